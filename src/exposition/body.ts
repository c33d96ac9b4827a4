/** The body of an answer; its length is known before the first byte. */
export interface ResponseBody {
  readonly length: number;
  /** The buffers in order; may be made while they are sent, and overwritten when the next one is asked for. */
  buffers(): Iterable<Buffer>;
}
