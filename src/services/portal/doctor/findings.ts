import { explainFor, explainTask } from '../../../contract/causes.ts';
import { explainForbiddenSeries } from '../../../contract/forbidden-tasks.ts';
import type { InventoryGap } from '../../../contract/service-details.ts';
import type { ReportFinding } from '../../../doctor/finding.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { date } from '../../../metrics/units.ts';
import { httpStatusOf } from '../../../runtime/errors.ts';
import { failureReason, isForbidden, isNotFound } from '../../../runtime/failures.ts';
import type { Exchange } from '../../../transport/json-client.ts';
import { missingLicence, portalCauses } from '../causes.ts';
import type { PortalCollector } from '../collector.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';
import { idsOf } from './answers.ts';
import { failingAppliances, type TaskPoll } from './polls.ts';

export const explain = explainFor(portalCauses, true);

export function reportAppliances(
  polls: readonly TaskPoll[],
  count: number,
  sampledSeries: string,
  reportFinding: ReportFinding,
): void {
  const check = 'appliances';
  for (const [, ofAppliance] of failingAppliances(polls)) {
    const { task, error } = ofAppliance.at(-1) ?? {};
    // An appliance that returns 404 for one series may only lack that series.
    if (task === undefined || (ofAppliance.length === 1 && isNotFound(error))) continue;
    const code = `${httpStatusOf(error) ?? failureReason(error)}`;
    const { advice } = explainTask(explain, {}, error);
    reportFinding('failure', check, code, `${task.appliance?.name}: ${error?.message}`, { expected: '200', advice });
  }
  const sampled = polls.filter(({ task }) => task.operation === sampledSeries);
  const fleet = sampled.length < count ? ` (the inventory has ${count})` : '';
  const sample = `of ${sampled.length} appliances polled for ${sampledSeries}${fleet}`;
  const reporting = sampled.filter(({ isEmpty }) => isEmpty === false);
  if (reporting.length > 0) reportFinding('ok', check, 'reporting', `${reporting.length} ${sample} returned records`);
  if (sampled.length === 0) reportFinding('unknown', check, 'none', 'could not be checked: no appliance is known');
  const silent = sampled.filter(({ isEmpty }) => isEmpty).map(({ task }) => task.appliance?.name);
  if (silent.length === 0) return;
  const observed = `${silent.length} ${sample} returned no records: ${silent.slice(0, 5).join(', ')}`;
  reportFinding('warning', check, 'silent', observed, { advice: explain('no_records').advice });
}

export function reportOperations(
  polls: readonly TaskPoll[],
  { inventory, context: { licence } }: PortalCollector,
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'operations';
  const hasSeries = polls.some(({ task, error }) => task.appliance !== undefined && error === undefined);
  const isUnlicensed = licence.hasTelemetry === false && !hasSeries;
  if (isUnlicensed) {
    reportFinding('failure', 'licence', 'no-telemetry', missingLicence.happened, {
      expected: 'a licence with operations insight',
      advice: missingLicence.advice,
    });
  }
  const failing = failingAppliances(polls);
  const forbidden = isUnlicensed ? undefined : explainForbiddenSeries(polls, explain);
  if (forbidden !== undefined) {
    const { happened, advice } = forbidden;
    reportFinding('failure', check, 'telemetry-403', happened, { expected: '200', advice });
  }
  const isAddressRight = exchanges.some(({ status, operation }) => status === 200 && operation !== 'token');
  const reported = new Set<string>();
  for (const { task, error } of polls) {
    const { operation, appliance, discoversTasks } = task;
    if (error === undefined || reported.has(operation) || failing.has(appliance?.serial ?? '')) continue;
    // 404 is normal for an appliance without this disk and for a build without this memory series.
    if (appliance !== undefined && (isNotFound(error) || isForbidden(error))) continue;
    if (isUnlicensed && isForbidden(error) && error.message.includes('/telemetry/')) continue;
    if (discoversTasks && inventory.gaps.length > 0) continue;
    reported.add(operation);
    const { advice } = isAddressRight ? explainTask(explain, task, error) : explain(error);
    reportFinding('failure', check, `${operation}-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200',
      advice,
    });
  }
  const hasFailed = reported.size > 0 || failing.size > 0 || forbidden !== undefined || isUnlicensed;
  if (hasFailed) return;
  if (inventory.gaps.length === 0) reportFinding('ok', check, 'answered', 'no operation returned an error');
  else {
    const observed = 'could not be checked for every appliance: a list of the inventory could not be read';
    reportFinding('unknown', check, 'inventory', observed);
  }
}

/** Finds series whose records are `{"time": "<RFC 3339 date>", "value": 5.2}`, as an unofficial source describes them: they state no unit and do not name what they measure. */
export function reportUndocumentedSeries(exchanges: readonly Exchange[], reportFinding: ReportFinding): void {
  const isUndocumented = ({ time, value }: JsonObject) => value !== undefined && date.read(time) !== undefined;
  const operations = new Set(
    exchanges
      .filter(({ status, body }) => {
        const { items } = objectOrEmpty(body);
        const [first = objectOrEmpty(body)] = objectsOrEmpty(Array.isArray(items) ? items : body);
        return status === 200 && isUndocumented(first);
      })
      .map(({ operation }) => operation),
  );
  if (operations.size === 0) return;
  const observed = `${[...operations].join(', ')}: the records have a date in time and their number in value`;
  reportFinding('failure', 'operations', 'series-value', observed, {
    expected: 'records with epoch milliseconds in time and one field for each measured value',
    advice: 'report it to the maintainers of the exporter, which reads no value from such records',
  });
}

export function reportInventory(
  gaps: readonly InventoryGap[],
  exchanges: readonly Exchange[],
  reportFinding: ReportFinding,
): void {
  const check = 'inventory';
  for (const { list, reason, happened, advice } of gaps) {
    const isMild = reason === 'other_ids' || (reason === 'empty' && list !== 'all');
    const code = `${list}-${reason}`.replaceAll('_', '-');
    reportFinding(isMild ? 'warning' : 'failure', check, code, happened, {
      expected: 'every list with the same appliances',
      advice,
    });
  }
  if (gaps.length > 0) return;
  const serials = idsOf(exchanges, 'serials', 'id');
  const edges = idsOf(exchanges, 'edges', 'serial');
  const both = [...edges].filter((serial) => serials.has(serial)).length;
  const observed = `${serials.size} serials, ${edges.size} edges, ${both} in both`;
  if (edges.size > both && serials.size > 0) {
    const advice = 'check in the portal that these appliances are in use; the exporter does not poll them';
    reportFinding('warning', check, 'partial-match', observed, { advice });
  } else reportFinding('ok', check, 'match', observed);
}
