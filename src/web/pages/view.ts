/** The fields of the query that the page understands: what a reader has chosen survives a reload and can be bookmarked. */
const FIELDS = ['show', 'filter', 'sort', 'order', 'page', 'reload'] as const;

/** What a reader has chosen, by the fields of the query. */
export type View = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

/** A longer filter is cut: each of its words is looked for in each row. */
const FILTER_LENGTH = 100;

export function viewOf(query: string): View {
  const fields = new URLSearchParams(query);
  const chosen = FIELDS.flatMap((name) => {
    const value = fields.get(name)?.trim().slice(0, FILTER_LENGTH);
    return value ? [[name, value]] : [];
  });
  return Object.fromEntries(chosen);
}

/** The address of a view with some fields changed, relative to the page; undefined removes a field. */
export function addressOf(view: View, changes: { readonly [Field in keyof View]: string | undefined }): string {
  const fields = Object.entries({ ...view, ...changes }).filter(([, value]) => value !== undefined);
  return `?${new URLSearchParams(fields as [string, string][])}`;
}
