# The base image by tag. To pin it by digest as well: --build-arg NODE_DIGEST=@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG NODE_DIGEST=

FROM ${NODE_IMAGE}${NODE_DIGEST} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json LICENSE ./
COPY src ./src
RUN npm run build
# Of the packages only those that the program runs with; pino-pretty is for terminals and stays out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}${NODE_DIGEST}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="filer-exporter" \
      org.opencontainers.image.description="Prometheus exporter for the two cloud services of a global file system" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production \
    FILER_EXPORTER_REVISION=${REVISION}
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
# A number, so that Kubernetes' runAsNonRoot can tell. The root may be read-only: only STATE_FILE is ever written.
USER 65532:65532
EXPOSE 9989
# Asks the address that LISTEN_ADDRESS names, which is this machine's own when it names no host.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "const [, host, port] = /^(.*):(\\d+)$/.exec(process.env.LISTEN_ADDRESS || ':9989'); const at = ['', '0.0.0.0', '[::]'].includes(host) ? '127.0.0.1' : host; fetch(`http://${at}:${port}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The exec form: signals reach the process itself.
ENTRYPOINT ["node", "dist/main.js"]
