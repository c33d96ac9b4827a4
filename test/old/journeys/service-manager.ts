import { existsSync, mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { works } from '../support/machine.ts';

/*
 * systemd as the first process of a machine of a journey. It has a part of this machine's control groups for its own, and starts
 * nothing but what a service needs that is started by hand.
 */

const PROGRAM = '/lib/systemd/systemd';

/** Where systemd keeps its groups: in a hierarchy of its own, or in the one that newer kernels have for everything. */
const hierarchy = [
  { folder: '/sys/fs/cgroup/systemd', type: 'cgroup -o none,name=systemd' },
  { folder: '/sys/fs/cgroup', type: 'cgroup2' },
].find(({ folder }) => existsSync(join(folder, 'cgroup.procs')));

/** A group of processes, in which a machine begins. */
export class ControlGroup {
  readonly #folder = mkdtempSync(join(hierarchy?.folder ?? '', 'filer-exporter-'));

  /** A line of a shell that puts it, and what it becomes, into the group. */
  get entry(): string {
    return `echo $$ >${this.#folder}/cgroup.procs`;
  }

  /** Removes it with those below it, and says that it is gone. Throws as long as something in it runs. */
  isRemoved(): true {
    const folders = readdirSync(this.#folder, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isDirectory(),
    );
    const paths = folders.map(({ parentPath, name }) => join(parentPath, name));
    for (const path of [this.#folder, ...paths].toSorted((a, b) => b.length - a.length)) rmdirSync(path);
    return true;
  }
}

/** For `unshare`: control groups of its own. */
export const GROUPS = '--cgroup';

/** Lines of a shell at the root of a machine that is not begun yet: what systemd expects to find there. */
export const PREPARED: readonly string[] = [
  'mount -t sysfs -o ro none sys',
  ...(hierarchy?.type === 'cgroup2'
    ? ['mount -t cgroup2 none sys/fs/cgroup']
    : [
        'mount -t tmpfs none sys/fs/cgroup',
        'mkdir sys/fs/cgroup/systemd',
        `mount -t ${hierarchy?.type} none sys/fs/cgroup/systemd`,
      ]),
  'mount -t tmpfs none run',
  // Only what is asked for is started: this machine's own services are not.
  'rm -rf lib/systemd/system/*.target.wants etc/systemd/system/*.target.wants etc/fstab',
  "printf '[Unit]\\nWants=basic.target systemd-journald.service dbus.socket\\n' >etc/systemd/system/journey.target",
];

/** The command that the first process becomes. */
export const BEGUN = `env -i container=journey PATH=/usr/sbin:/usr/bin:/sbin:/bin ${PROGRAM} --system --unit=journey.target --log-target=null --show-status=no`;

/** Whether a machine can have it: systemd is installed, and control groups may be made. */
export const canRunSystemd: boolean = (() => {
  if (hierarchy === undefined || !existsSync(PROGRAM)) return false;
  try {
    const group = new ControlGroup();
    const mount = `mount -t tmpfs none /mnt && mkdir /mnt/groups && mount -t ${hierarchy.type} none /mnt/groups`;
    const isRight = works('sh', '-ec', `${group.entry} && exec unshare --mount ${GROUPS} sh -ec '${mount}'`);
    group.isRemoved();
    return isRight;
  } catch {
    return false;
  }
})();
