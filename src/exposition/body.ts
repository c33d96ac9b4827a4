/** The body of a response, whose length is known before the first byte is sent. */
export interface ResponseBody {
  readonly length: number;
  /** The buffers in order. They may be created while they are sent. */
  buffers(): Iterable<Buffer>;
}
