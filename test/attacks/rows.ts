import { files } from './files.ts';
import { guests } from './guests.ts';
import { locals } from './local.ts';
import type { Row } from './row.ts';
import { strangers } from './strangers.ts';

/** The whole battery. */
export const rows: readonly Row[] = [...strangers, ...guests, ...locals, ...files];
