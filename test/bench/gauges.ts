import type { FamilyHeader } from '../../src/exposition/format.ts';
import type { Sample } from '../../src/metrics/samples.ts';

/** Twenty gauges, as an appliance has them. */
export const gauges: readonly FamilyHeader[] = Array.from({ length: 20 }, (_, index) => ({
  name: `filer_appliance_figure_${index}_bytes`,
  help: 'One of twenty figures of an appliance.',
  type: 'gauge',
}));

/**
 * The samples of so many subjects from one on, twenty of each: the values are others in every round. Label values are
 * texts of their own, as an answer brings them.
 */
export function* samplesOf(first: number, subjects: number, round: number): Generator<Sample> {
  for (let subject = first; subject < first + subjects; subject += 1) {
    const hex = (subject * 2_654_435_761).toString(16).padStart(12, '0').slice(-12);
    const labels = {
      serial: own(`a1d1b8de-4e2b-4d0c-9a7f-${hex}`),
      filer: own(`appliance ${subject}`),
      volume_guid: own(`0b7ad5f2-91c4-4c1e-8a55-${hex}`),
      volume: own(`volume ${subject % 500}`),
      direction: 'read',
    };
    for (const [index, { name }] of gauges.entries()) {
      yield { name, labels: { ...labels }, value: ((subject * 20 + index) * 7 + round * 13) / 16 };
    }
  }
}

/** A flat text: one put together is a chain of pieces, and flattening it would be counted as ours. */
function own(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
