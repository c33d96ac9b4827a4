/** How the changelog writes a renamed metric: the old name, an arrow, and the new name or names. */
export const RENAMED = /`(filer_[a-z0-9_]+)`\s→/g;
