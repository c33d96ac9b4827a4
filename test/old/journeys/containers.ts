import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/program.ts';

/**
 * A folder with node.tar and runtime.tar, which deploy/image/bases.sh puts together, for checks before a release: they need
 * podman, runc and root.
 */
export const bases: string | undefined = process.env.BASE_IMAGES;

/**
 * A clone of the repository in which `docker` is podman, with what a machine without an image registry and without systemd
 * needs, and a storage of its own.
 */
export class Containers {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'filer-exporter-image-'));
  readonly clone: string = join(this.folder, 'clone');

  constructor() {
    const { folder, clone } = this;
    mkdirSync(clone);
    writeFileSync(
      join(folder, 'storage.conf'),
      `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
    );
    writeFileSync(join(folder, 'docker'), DOCKER, { mode: 0o755 });
    writeFileSync(join(folder, 'sudo'), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
    this.run(
      `git -C '${root}' ls-files -z | tar -C '${root}' --null -T - -cf - | tar -xf - && git init -q . && git add -A`,
    );
    this.run('git -c user.name=t -c user.email=t@example.com commit -qm clone');
    for (const [name, more] of [
      ['node', ''],
      ['runtime', "--change 'USER 65532'"],
    ] as const) {
      const path = '--change "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"';
      this.run(`podman import --quiet ${path} ${more} ${bases}/${name}.tar localhost/base/${name}:1`);
    }
    this.run(
      `printf 'registry=%s\\ncafile=/etc/ssl/certs/ca-certificates.crt\\n' "$(npm config get registry)" >'${folder}/npmrc'`,
    );
  }

  /** Runs a script in the clone to its end; gives what it wrote. Throws where it fails. */
  run(script: string): string {
    const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      ...this.#how,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${script}\nended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Starts one that goes on. */
  start(script: string): ChildProcess {
    return spawn('bash', ['-euo', 'pipefail', '-c', script], { ...this.#how, stdio: 'ignore' });
  }

  remove(): void {
    this.run(
      'podman rm --all --force --time 0 >/dev/null 2>&1 || true; podman system reset --force >/dev/null 2>&1 || true',
    );
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #how() {
    const env = {
      PATH: `${this.folder}:${process.env.PATH}`,
      HOME: process.env.HOME,
      CONTAINERS_CONF: join(root, 'deploy/image/containers.conf'),
      CONTAINERS_STORAGE_CONF: join(this.folder, 'storage.conf'),
    };
    return { cwd: this.clone, env };
  }
}

const DOCKER = `#!/bin/bash
trust=()
for path in /etc/ssl/certs /usr/share/ca-certificates /usr/local/share/ca-certificates; do
  [ ! -d "$path" ] || trust+=(-v "$path:$path:ro")
done
build=(--isolation chroot --pull=never --format docker --network host "\${trust[@]}" -v "$(dirname "$0")/npmrc:/root/.npmrc:ro"
  --build-arg NODE_IMAGE=localhost/base/node:1 --build-arg RUNTIME_IMAGE=localhost/base/runtime:1)
case "$1" in
  build) shift && exec podman build "\${build[@]}" "$@" ;;
  run) shift && exec podman run --pull=never "$@" ;;
  compose) shift && exec podman-compose --podman-build-args="\${build[*]}" --podman-run-args=--pull=never "$@" \${SERVICES:-} ;;
  *) echo "docker $*: not expected" >&2; exit 1 ;;
esac
`;
