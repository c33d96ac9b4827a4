const container =
  'needs a container engine and base images from a registry; the same commands as in docs/deployment.md, whose blocks are run';
const same = 'the same commands as in docs/deployment.md, whose blocks are run';

/** Shell blocks of the pages that no journey runs, with the reason. */
export const notRun: Readonly<Record<string, string>> = {
  'README.md, Try it, 1': 'the demo, which test/process starts',
  'README.md, Try it, 2': container,
  'README.md, Configure, 1': same,
  'README.md, More, 1': 'the tests themselves, which .ci/run runs',
  'docs/contributing.md, Contributing, 1':
    'for developers: it lists the commands of package.json, the tests among them',
  'docs/deployment.md, Compose, 2':
    'needs a container engine; test/deploy reads the file, and the journey of the image runs the same image and settings',
  'docs/deployment.md, Container image, 3': 'pushes to a registry that is an example',
  'docs/deployment.md, Kustomize, 2': 'builds an API server for some minutes, for a check before a release',
  'docs/doctor.md, The doctor, 1': 'test/doctor runs the doctor on every variant of the services',
  'docs/doctor.md, The report, 1': 'test/doctor writes the report and reads it',
  'docs/history.md, Configure it, 1': 'settings with an example address; test/history writes to a receiver',
  'docs/history.md, History before the first start, 1':
    'asks an account for its history; test/history runs --backfill and promtool on what it prints',
  'docs/names.md, Which records are one filer, 1': 'a setting with example ids; test/config reads such settings',
  'docs/status.md, The JSON, 1': 'asks a running exporter; test/pages reads the same document',
  'deploy/prometheus/README.md, Prometheus: scrape job, rules, alerts, 1': 'test/deploy/prometheus checks both files',
  'grafana/README.md, Provisioning, 1': 'needs the image of Grafana, which this project neither ships nor builds',
};
