# Both bases are named by tag, so that a build of today has the fixes of today; a release pins each by the digest that the tag
# has then (.github/workflows/release.yml). To do so by hand: --build-arg NODE_DIGEST=@sha256:… and so for the runtime.
ARG NODE_IMAGE=docker.io/library/node:24-trixie-slim
ARG NODE_DIGEST=
# The C libraries that Node.js needs, certificates and time zones; no shell, no package manager, no npm. Debian's packages,
# so scanners know them, and rebuilt with Debian's fixes: about a third of the slim image, with little in it to patch.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian13:nonroot
ARG RUNTIME_DIGEST=

# The program is the same on every platform, so it is built once, on the builder's own.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE}${NODE_DIGEST} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json LICENSE ./
COPY src ./src
RUN npm run build
# Of the packages only those that the program runs with; pino-pretty is for terminals and stays out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json
COPY deploy/image/healthcheck.mjs ./
# Dates are the only thing in which two builds of one commit differ; a builder hands the commit's in.
ARG SOURCE_DATE_EPOCH=0
RUN mkdir /app \
 && mv package.json LICENSE healthcheck.mjs node_modules dist /app/ \
 && find /app -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH}" {} +

# What is in the image, as CycloneDX: docker build --target sbom --output out .
FROM scratch AS sbom
COPY --from=build /build/sbom.cdx.json /

# Node.js of the platform that the image is for. Nothing runs in this stage or the next, so none needs an emulator.
FROM ${NODE_IMAGE}${NODE_DIGEST} AS node

FROM ${RUNTIME_IMAGE}${RUNTIME_DIGEST}
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="filer-exporter" \
      org.opencontainers.image.description="Prometheus exporter for the two cloud services of a global file system" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build /app /app
WORKDIR /app
ENV NODE_ENV=production \
    FILER_EXPORTER_REVISION=${REVISION}
# A number, so that Kubernetes' runAsNonRoot can tell. The root may be read-only: only STATE_FILE is ever written.
USER 65532:65532
EXPOSE 9989
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "healthcheck.mjs"]
# The exec form: signals reach the process itself. The option closes the moment before the program handles SIGUSR1 itself.
ENTRYPOINT ["node", "--disable-sigusr1", "dist/main.js"]
