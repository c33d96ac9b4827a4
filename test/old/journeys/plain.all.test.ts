// Only here: documented commands that do not work on a plain host.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { render } from '../../deploy/prometheus/render.ts';
import { template } from '../../deploy/prometheus/template.ts';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { freePort } from '../support/listening.ts';
import { get } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { alertmanagerProgram, healthyRules, outageArrives, startAlerting } from './alerting.ts';
import { canMakeMachines, Machine, type Started } from './machine.ts';
import { canRunSystemd } from './service-manager.ts';

/*
 * The ways of docs/install onto a plain host, from the page's own code blocks, on a machine of its own: npm, the
 * package, the executable, the Debian package with its unit under systemd. What is not real here: the two services, which the
 * mocks play.
 */

const ruleNames = render(template).flatMap(({ rules }) =>
  rules.map((rule) => ('alert' in rule ? rule.alert : rule.record)),
);

/** Polls often enough for a test. */
const QUICK = { PORTAL_INTERVAL: '5s', PORTAL_DISCOVERY_INTERVAL: '10s', PORTAL_SERIES: 'cpu_utilization' };

const embedded = `node-linux-${process.arch}`;
const EMBEDDED = { EMBEDDED_NODE: `/opt/embedded/node_modules/${embedded}/bin/node` };

describe.runIf(canMakeMachines)('on a plain host', () => {
  let machine: Machine;
  let mocks: MockServices;
  let port: number;

  beforeAll(async () => {
    mocks = await startMockServices({ clock: systemClock, appliances: 3, volumes: 2 });
    port = await freePort();
    const examples = {
      'YOUR-GFA-TOKEN': mocks.credentials.gfaToken,
      'YOUR-SERVICE-KEY': mocks.credentials.serviceKey,
      'YOUR-SERVICE-SECRET': mocks.credentials.serviceSecret,
      'https://acceleration.example.com/v1': mocks.gfaUrl,
      'https://portal.example.com': mocks.portalUrl,
      'localhost:9989': `localhost:${port}`,
      _amd64: process.arch === 'x64' ? '_amd64' : '_arm64',
    };
    machine = await Machine.make(examples, canRunSystemd ? 'systemd' : 'sleep');
    await machine.follow('docs/deployment.md, Credentials, 1');
  }, 600_000);

  afterAll(async () => {
    await machine?.remove();
    await mocks?.close();
  });

  /** Waits for an exporter that has asked everybody once; gives its address and what it serves. */
  const ready = async (at: number, started?: Started): Promise<string> => {
    const address = `http://127.0.0.1:${at}`;
    const isReady = () =>
      fetch(`${address}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the exporter to be ready', async () => started?.hasEnded || (await isReady()), 300_000);
    if (started?.hasEnded) throw new Error(`the block ended: ${started.said}`);
    return address;
  };
  /** A report of the doctor on the two services, without a fault. */
  const expectReport = (said: string) => {
    expect(said).toMatch(/^gfa$[\s\S]*^portal$[\s\S]*, 0 failures$/m);
  };
  const scrape = async (address: string) => (await get(`${address}/metrics`)).text;

  test('npm: checked, examined by the doctor, planned and started, and an outage of the portal arrives as the alert of the runbook', async () => {
    const at = await freePort();
    const started = machine.start('docs/install/node.md, From a clone, 1', {
      LISTEN_ADDRESS: `127.0.0.1:${at}`,
      // Quick enough for a test, and little enough that the page's --plan says that it fits.
      ...QUICK,
    });
    const address = await ready(at, started);
    expect(started.said).toContain('the configuration is valid');
    expectReport(started.said);
    expect(await scrape(address)).toMatch(/^filer_api_up\{api="portal"\} 1$/m);

    // The real rules, written by the documented command; only how long this alert waits and goes on is other than shipped.
    const said = await machine.run('npm run --silent rules -- --for FilerApiDown=1s --keep-firing-for 0s');
    const alerting = await startAlerting(address, said, 'a-name-of-my-own');
    expect(new Set(await healthyRules(alerting))).toEqual(new Set(ruleNames));
    expect((await outageArrives(alerting, mocks)).labels.job).toBe('a-name-of-my-own');
    expect(await scrape(address)).toMatch(/^filer_api_up\{api="portal"\} 1$/m);
  }, 600_000);

  test('npm pack: the package runs alone, without a compiler or a test', async () => {
    const at = await freePort();
    const started = machine.start('docs/install/node.md, As a package, 1', { LISTEN_ADDRESS: `127.0.0.1:${at}` });
    expect(await scrape(await ready(at, started))).toContain('filer_exporter_build_info{version="1.0.0"');
    const said = await machine.run('tar -tzf ~/filer-exporter/filer-exporter-1.0.0.tgz');
    expect(said).toContain('package/dist/main.js');
    expect(said).toContain('package/deploy/prometheus/filer-exporter.rules.yml');
    for (const [, path = ''] of (await machine.read('README.md')).matchAll(/\]\(((?!https?:)[^)#]+)/g)) {
      expect(said, path).toContain(`package/${path}`);
    }
    expect(await scrape(`http://127.0.0.1:${at}`)).toMatch(/build_info\{version="1.0.0",revision="[0-9a-f]{40}"/);
    expect(said).not.toMatch(/\.ts$|\.map$|package\/(?:src|test|node_modules)/m);
  }, 600_000);

  test('rules with thresholds of one’s own and links to the dashboard Runbooks', async () => {
    await machine.follow('deploy/prometheus/README.md, Thresholds, waiting times and links, 1');
    expect(await machine.run('promtool check rules my.rules.yml')).toContain('SUCCESS');
    expect(await machine.read('my.prometheusrule.yml')).toContain('kind: PrometheusRule');
    expect(await machine.read('my.rules.yml')).toContain('https://grafana.example.com/d/filer-runbooks/exporter.md?');
  }, 600_000);

  test('one executable file: built, serving the demo without Node.js, then examining the account and serving it', async () => {
    const at = await freePort();
    // The registry of packages is all that such a machine has to reach.
    await machine.run(
      `npm install --silent --no-audit --no-fund --ignore-scripts --prefix /opt/embedded ${embedded}@26`,
    );
    const started = machine.start('docs/install/node.md, One executable file, 1', {
      ...EMBEDDED,
      LISTEN_ADDRESS: `127.0.0.1:${at}`,
    });
    const address = await ready(at, started);
    expect(await scrape(address)).toMatch(/build_info\{version="1.0.0",revision="[0-9a-f]{40}"/);
    expect(await (await fetch(`${address}/status`)).text()).toContain('</html>');
    const other = await freePort();
    const real = machine.start('docs/install/node.md, One executable file, 2', {
      LISTEN_ADDRESS: `127.0.0.1:${other}`,
      ...QUICK,
    });
    expect(await scrape(await ready(other, real))).toMatch(/^filer_api_up\{api="portal"\} 1$/m);
    expectReport(real.said);
  }, 600_000);

  test.runIf(canRunSystemd)(
    'the Debian package: installed, started by systemd in its sandbox, upgraded and removed',
    async () => {
      const further = Object.entries(QUICK).map(([name, value]) => `${name}=${value}`);
      const edits = [
        ...[
          `s|https://acceleration.example.com/v1|${mocks.gfaUrl}|`,
          `s|https://portal.example.com|${mocks.portalUrl}|`,
        ],
        ...[`s|:9989|:${port}|`, `$a${further.join('\\n')}`],
      ];
      await machine.command('editor', `sed -i ${edits.map((edit) => `-e '${edit}'`).join(' ')} "$@"`);
      // A newer version has been pulled since the executable was built, which still runs.
      await machine.run('git -c user.name=t -c user.email=t@example.com commit --quiet --allow-empty --message newer');
      await machine.follow('docs/install/debian.md, Debian package and systemd, 1', EMBEDDED);
      expect(
        await machine.run('stat -c "%a %U" /etc/filer-exporter/secrets /etc/filer-exporter/secrets/gfa-token'),
      ).toBe('700 root\n600 root\n');
      const said = await machine.follow('docs/install/debian.md, Debian package and systemd, 2');
      expect(said).toContain('Active: active (running)');
      expect(said).not.toContain('fatal');
      expectReport(said);
      expect(await machine.run('sudo filer-exporter-doctor --check-config')).toContain('the configuration is valid');
      const process = await machine.run('cat /proc/$(systemctl show -P MainPID filer-exporter)/status');
      expect(process).toMatch(/^Uid:\t[1-9]\d+\t/m);
      expect(process).toMatch(/^CapEff:\t0+$/m);
      expect(process).toMatch(/^Seccomp:\t2$/m);
      const address = await ready(port);
      const served = await scrape(address);
      expect(served).toMatch(/^filer_api_up\{api="gfa"\} 1$/m);
      expect(served).toContain(`revision="${(await machine.run('git rev-parse HEAD')).trim()}"`);
      // These rules are the ones whose alert arrives in the first journey here.
      const shipped = await machine.read('/usr/share/filer-exporter/filer-exporter.rules.yml');
      expect(shipped).toBe(await machine.read('deploy/prometheus/filer-exporter.rules.yml'));
      // Upgraded, another process runs with the same settings.
      const pid = 'systemctl show -P MainPID filer-exporter';
      const before = await machine.run(pid);
      expectReport(await machine.follow('docs/install/debian.md, Upgrade, 1'));
      expect(await machine.run(pid)).not.toBe(before);
      expect(await scrape(await ready(port))).toMatch(/^filer_api_up\{api="gfa"\} 1$/m);
      const left = () =>
        machine.run('ls -d /etc/filer-exporter* /var/lib/filer-* /var/lib/private/filer-* 2>&1 || true');
      expect(await left()).toContain('/var/lib/private/filer-exporter\n');
      await machine.follow('docs/install/debian.md, Remove, 1');
      expect((await machine.try('systemctl is-active filer-exporter')).said).toBe('inactive\n');
      expect(await left()).not.toMatch(/^\//m);
      // The same files by hand lie where the unit looks for them, and go with the commands of the page.
      await machine.follow('docs/install/debian.md, A unit without the package, 1');
      await machine.follow('docs/install/debian.md, Remove, 2');
      expect(await left()).not.toMatch(/^\//m);
    },
    600_000,
  );

  test('an upgrade of clone and package keeps the settings, and the removal leaves nothing', async () => {
    await machine.run(
      'git clone --quiet --bare . /srv/origin && git remote add origin /srv/origin && git fetch --quiet',
    );
    await machine.run('git branch --quiet --set-upstream-to "origin/$(git branch --show-current)"');
    expect(await machine.follow('docs/install/node.md, Upgrade, 1')).toContain('the configuration is valid');
    // A package of the same version, of a newer commit.
    await machine.run('git -c user.name=t -c user.email=t@example.com commit --quiet --allow-empty --message newer');
    expect(await machine.follow('docs/install/node.md, Upgrade, 2')).toContain('the configuration is valid');
    expect(await machine.run('~/filer-exporter/bin/filer-exporter --version')).toContain(
      (await machine.run('git rev-parse HEAD')).trim(),
    );
    await machine.follow('docs/install/node.md, Remove, 1');
    expect(await machine.run('ls -d ~/filer-exporter /srv/filer-exporter 2>&1 || true')).not.toMatch(/^\//m);
  }, 600_000);
});

test.runIf(process.env.REQUIRE_NAMESPACES)(
  'machines can be made and Alertmanager is installed, as REQUIRE_NAMESPACES asks',
  () => {
    expect(canMakeMachines).toBe(true);
    expect(alertmanagerProgram).toBeDefined();
  },
);

test.runIf(process.env.REQUIRE_NAMESPACES && process.env.REQUIRE_CGROUPS)(
  'systemd can be the first process of a machine, as REQUIRE_CGROUPS asks',
  () => {
    expect(canRunSystemd).toBe(true);
  },
);
