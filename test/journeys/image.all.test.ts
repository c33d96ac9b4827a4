import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { root } from '../support/program.ts';
import { until } from '../support/until.ts';
import { blockOf } from './pages.ts';
import { portOf } from './ports.ts';

/*
 * A check before a release: the image as docs/deployment.md builds and runs it, from the page's own blocks. BASE_IMAGES names a
 * folder with node.tar and runtime.tar, which deploy/image/bases.sh puts together; podman and runc are needed, and root.
 * `docker` is podman here, with what a machine without an image registry and without systemd needs, and the network of the
 * machine, on which the stand-ins of the services are.
 */

const bases = process.env.BASE_IMAGES;

describe.runIf(bases)('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-image-'));
  const clone = join(folder, 'clone');
  let standIn: StandIn;

  const run = (script: string) => {
    const environment = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: process.env.HOME,
      CONTAINERS_CONF: join(root, 'deploy/image/containers.conf'),
      CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    };
    const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: clone,
      encoding: 'utf8',
      env: environment,
    });
    if (status !== 0) throw new Error(`${script}\nended with ${status}: ${stdout}${stderr}`);
    return stdout;
  };

  beforeAll(async () => {
    standIn = await startStandIn({ clock: systemClock, appliances: 3, volumes: 2 });
    mkdirSync(clone);
    writeFileSync(
      join(folder, 'storage.conf'),
      `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
    );
    writeFileSync(join(folder, 'docker'), DOCKER, { mode: 0o755 });
    writeFileSync(join(folder, 'sudo'), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
    run(`git -C '${root}' ls-files -z | tar -C '${root}' --null -T - -cf - | tar -xf - && git init -q . && git add -A`);
    run('git -c user.name=t -c user.email=t@example.com commit -qm clone');
    for (const [name, more] of [
      ['node', ''],
      ['runtime', "--change 'USER 65532'"],
    ] as const) {
      const path = '--change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"';
      run(`podman import --quiet ${path} ${more} ${bases}/${name}.tar localhost/base/${name}:1`);
    }
    run(
      `printf 'registry=%s\\ncafile=/etc/ssl/certs/ca-certificates.crt\\n' "$(npm config get registry)" >'${folder}/npmrc'`,
    );
  }, 240_000);

  afterAll(async () => {
    run(
      'podman rm --all --force --time 0 >/dev/null 2>&1 || true; podman system reset --force >/dev/null 2>&1 || true',
    );
    rmSync(folder, { recursive: true, force: true });
    await standIn?.close();
  }, 60_000);

  /** A block of the page, with the container on a port of this machine. */
  const block = (number: number, port: number) =>
    Object.entries({
      '--publish 9989:9989': `--network host --env LISTEN_ADDRESS=127.0.0.1:${port}`,
      'docker run --rm': 'docker run --rm --detach',
      'https://acceleration.example.com/v1': standIn.gfaUrl,
      'https://portal.example.com': standIn.portalUrl,
      'YOUR-GFA-TOKEN': standIn.credentials.gfaToken,
      'YOUR-SERVICE-KEY': standIn.credentials.serviceKey,
      'YOUR-SERVICE-SECRET': standIn.credentials.serviceSecret,
    }).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      number === 0
        ? blockOf('docs/deployment.md, Credentials, 1').text
        : blockOf(number === 1 ? 'docs/deployment.md, Container image, 1' : 'docs/deployment.md, Container image, 2')
            .text,
    );

  const served = (port: number) => async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    return text.match(/^filer_api_up\{api="\w+"\} 1$/gm)?.length === 2;
  };

  test('is built and serves the demo', async () => {
    const port = await portOf();
    run(block(1, port));
    onTestFinished(() => void run('podman rm --all --force --time 0'));
    await until('both services of the demo to be up', served(port), 60_000);
  }, 300_000);

  test('runs with accounts, read-only, as a user that is not root', async () => {
    const port = await portOf();
    run(block(0, port));
    run(block(2, port));
    onTestFinished(() => void run('podman rm --all --force --time 0'));
    await until('both services to be up', served(port), 60_000);
    expect(
      run("podman inspect --format '{{ .Config.User }} {{ .HostConfig.ReadonlyRootfs }}' filer-exporter").trim(),
    ).toBe('65532:65532 true');
  }, 120_000);
});

const DOCKER = `#!/bin/bash
case "$1" in
  build)
    shift
    trust=()
    for path in /etc/ssl/certs /usr/share/ca-certificates /usr/local/share/ca-certificates; do
      [ ! -d "$path" ] || trust+=(-v "$path:$path:ro")
    done
    exec podman build --isolation chroot --pull=never --format docker --network host "\${trust[@]}" \\
      -v "$(dirname "$0")/npmrc:/root/.npmrc:ro" \\
      --build-arg NODE_IMAGE=localhost/base/node:1 --build-arg RUNTIME_IMAGE=localhost/base/runtime:1 "$@"
    ;;
  run) shift && exec podman run --pull=never "$@" ;;
  *) echo "docker $*: not expected" >&2; exit 1 ;;
esac
`;
