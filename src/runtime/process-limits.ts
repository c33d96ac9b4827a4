import process from 'node:process';
import { errorCode } from './errors.ts';

export class ProcessLimitError extends Error {
  override readonly name = 'LimitError';
}

/** The number of files that are open while the program is loaded, plus the connections of the default configuration. */
const MIN_FILES = 400;

/** Returns an error that explains the failure if the limit of open files caused it, otherwise the error itself. */
export function explainLoadError(error: unknown): unknown {
  if (errorCode(error) !== 'EMFILE') return error;
  const { userLimits } = process.report.getReport() as { readonly userLimits?: Limits };
  const limit = userLimits?.open_files?.soft ?? 'too low';
  return new ProcessLimitError(
    `cannot load the program: the limit of open files (ulimit -n) is ${limit}; ${EXPECTED_FILES}`,
  );
}

const EXPECTED_FILES = `expected ${MIN_FILES} or more, see docs/security.md`;

type Limits = Readonly<Record<string, { readonly soft: unknown } | undefined>>;

/** Node has it, but only the types of browsers declare it. */
declare const WebAssembly: { readonly Memory: new (limits: { readonly initial: number }) => object };

/** Throws if there is no address space for WebAssembly: undici parses every response in it, so no poll could succeed. */
export function assertAddressSpace(): void {
  try {
    new WebAssembly.Memory({ initial: 1 });
  } catch (cause) {
    const needed =
      'undici needs WebAssembly, which reserves 10 GiB of it; expected unlimited, and memory limited otherwise';
    throw new ProcessLimitError(`cannot poll: the limit of address space (ulimit -v) is too low: ${needed}`, { cause });
  }
}
