import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { freePort } from '../support/listening.ts';
import { until } from '../support/until.ts';
import { bases, Containers } from './containers.ts';
import { blockOf } from './pages.ts';

/*
 * A check before a release: the image as docs/install/containers.md builds and runs it, from the page's own blocks, on the
 * network of this machine, on which the mock services are.
 */

describe.runIf(bases)('the image', () => {
  let containers: Containers;
  let mocks: MockServices;

  beforeAll(async () => {
    mocks = await startMockServices({ clock: systemClock, appliances: 3, volumes: 2 });
    containers = new Containers();
  });

  afterAll(async () => {
    containers?.remove();
    await mocks?.close();
  });

  const run = (script: string) => containers.run(script);

  /** A block of the page, with the container on a port of this machine. */
  const block = (number: number, port: number) =>
    Object.entries({
      '--publish 9989:9989': `--network host --env LISTEN_ADDRESS=127.0.0.1:${port}`,
      'docker run --rm': 'docker run --rm --detach',
      'https://acceleration.example.com/v1': mocks.gfaUrl,
      'https://portal.example.com': mocks.portalUrl,
      'YOUR-GFA-TOKEN': mocks.credentials.gfaToken,
      'YOUR-SERVICE-KEY': mocks.credentials.serviceKey,
      'YOUR-SERVICE-SECRET': mocks.credentials.serviceSecret,
    }).reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      number === 0
        ? blockOf('docs/deployment.md, Credentials, 1').text
        : blockOf(
            number === 1
              ? 'docs/install/containers.md, Container image, 1'
              : 'docs/install/containers.md, Container image, 2',
          ).text,
    );

  const served = (port: number) => async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    return text.match(/^filer_api_up\{api="\w+"\} 1$/gm)?.length === 2;
  };

  test('is built and serves the demo', async () => {
    const port = await freePort();
    run(block(1, port));
    onTestFinished(() => void run('podman rm --all --force --time 0'));
    await until('both services of the demo to be up', served(port));
  }, 300_000);

  test('runs with accounts, read-only, as a user that is not root', async () => {
    const port = await freePort();
    run(block(0, port));
    run(block(2, port));
    onTestFinished(() => void run('podman rm --all --force --time 0'));
    await until('both services to be up', served(port));
    expect(
      run("podman inspect --format '{{ .Config.User }} {{ .HostConfig.ReadonlyRootfs }}' filer-exporter").trim(),
    ).toBe('65532:65532 true');
  });
});
