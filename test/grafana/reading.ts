import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { asTables } from './answers.ts';
import type { Display, Field, Frame, GrafanaData } from './grafana.ts';

/** What a person reads in one place: a cell, a large number, the newest value of a line. */
export interface Reading {
  /** The title of the column or the name of the series. */
  readonly name: string;
  /** With its unit. */
  readonly text: string;
  /** As CSS. */
  readonly color: string;
  /** What the answer has. */
  readonly value: number | string | null;
  readonly linked: boolean;
}

/** The properties of a field that dashboards set; Grafana keeps what it does with each beside its editors. */
const PROPERTIES = ['unit', 'min', 'decimals', 'noValue', 'color', 'thresholds', 'mappings', 'links'];
const OWN_PROPERTIES = ['width', 'cellOptions', 'hideFrom'];

const asItIs = (text: string) => text;

/** Reads panels with Grafana's own code, as the front end would show them. */
export class Reader {
  readonly #grafana: GrafanaData;
  readonly #properties: unknown;
  readonly #theme: ReturnType<GrafanaData['createTheme']>;

  constructor(grafana: GrafanaData, mode: 'light' | 'dark' = 'dark') {
    this.#grafana = grafana;
    this.#theme = grafana.createTheme({ colors: { mode } });
    const property = (id: string, path: string, isCustom: boolean) => {
      return { id, path, isCustom, name: id, process: grafana.identityOverrideProcessor, shouldApply: () => true };
    };
    this.#properties = new grafana.FieldConfigOptionsRegistry(() => [
      ...PROPERTIES.map((id) => property(id, id, false)),
      ...OWN_PROPERTIES.map((id) => property(`custom.${id}`, id, true)),
    ]);
  }

  /** The frames that a panel shows, after its transformations, with its settings on each field. */
  shown(panel: Panel, frames: readonly Frame[]): readonly Frame[] {
    let changed: readonly Frame[] = panel.type === 'table' ? asTables(frames) : frames;
    this.#grafana
      .transformDataFrame(panel.transformations ?? [], changed, { interpolate: asItIs })
      .subscribe((result) => {
        changed = result;
      });
    return this.#grafana.applyFieldOverrides({
      data: changed,
      fieldConfig: panel.fieldConfig,
      fieldConfigRegistry: this.#properties,
      replaceVariables: asItIs,
      theme: this.#theme,
    });
  }

  /** A colour by its name, as this theme has it. */
  colour(name: string): string {
    return this.#hex(this.#theme.visualization.getColorByName(name));
  }

  /** The titles of the columns of a table, from the left. */
  columns(panel: Panel, frames: readonly Frame[]): readonly string[] {
    const all = this.shown(panel, frames);
    return all.flatMap((frame) => frame.fields.map((field) => this.#grafana.getFieldDisplayName(field, frame, all)));
  }

  /** The rows of a table, as it sorts them. */
  rows(panel: Panel, frames: readonly Frame[]): readonly (readonly Reading[])[] {
    let [frame] = this.shown(panel, frames);
    if (frame === undefined) return [];
    const names = this.columns(panel, frames);
    const order: readonly { readonly displayName: string; readonly desc: boolean }[] = panel.options?.sortBy ?? [];
    for (const { displayName, desc } of order.toReversed()) {
      frame = this.#grafana.sortDataFrame(frame, names.indexOf(displayName), desc);
    }
    const { fields, length } = frame;
    return Array.from({ length }, (_, row) =>
      fields.map((field, column) => this.#reading(field, names[column] ?? '', field.values[row] ?? null)),
    );
  }

  /** The numbers of a panel of numbers or bars. */
  numbers(panel: Panel, frames: readonly Frame[]): readonly Pick<Reading, 'name' | 'text' | 'color'>[] {
    return this.#grafana
      .getFieldDisplayValues({
        data: this.shown(panel, frames),
        fieldConfig: panel.fieldConfig,
        reduceOptions: panel.options?.reduceOptions,
        replaceVariables: asItIs,
        theme: this.#theme,
      })
      .map(({ display }) => ({
        name: display.title ?? '',
        text: this.#text(display),
        color: this.#hex(display.color),
      }));
  }

  /** The newest value of each line of a chart. */
  lines(panel: Panel, frames: readonly Frame[]): readonly Reading[] {
    const all = this.shown(panel, frames);
    return all.flatMap((frame) =>
      frame.fields
        .filter(({ type }) => type === 'number')
        .map((field) =>
          this.#reading(field, this.#grafana.getFieldDisplayName(field, frame, all), field.values.at(-1) ?? null),
        ),
    );
  }

  /** What a field shows for a value. */
  #reading(field: Field, name: string, value: number | string | null): Reading {
    const display = field.display?.(value) ?? { text: '' };
    return { name, text: this.#text(display), color: this.#hex(display.color), value, linked: 'links' in field.config };
  }

  #hex(color = ''): string {
    return this.#grafana.colorManipulator.asHexString(color);
  }

  #text(display: Display): string {
    return this.#grafana.formattedValueToString(display);
  }
}
