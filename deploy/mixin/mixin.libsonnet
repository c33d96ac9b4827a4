// The shipped rules and boards for those who keep Prometheus and Grafana in jsonnet.
local groups = std.parseYaml(importstr '../prometheus/filer-exporter.rules.yml').groups;
local records(group) = std.objectHas(group.rules[0], 'record');
{
  prometheusRules+:: { groups+: std.filter(records, groups) },
  prometheusAlerts+:: { groups+: std.filter(function(group) !records(group), groups) },
  grafanaDashboards+:: {
    'filer-account.json': import '../../grafana/dashboards/filer-account.json',
    'filer-appliance.json': import '../../grafana/dashboards/filer-appliance.json',
    'filer-exporter.json': import '../../grafana/dashboards/filer-exporter.json',
    'filer-fleet.json': import '../../grafana/dashboards/filer-fleet.json',
    'filer-overview.json': import '../../grafana/dashboards/filer-overview.json',
    'filer-runbooks.json': import '../../grafana/dashboards/filer-runbooks.json',
    'filer-volumes.json': import '../../grafana/dashboards/filer-volumes.json',
  },
}
