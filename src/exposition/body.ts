/** The body of a response, whose length is known before the first byte is sent. */
export interface ResponseBody {
  readonly length: number;
  /** The buffers in order. They may be created while they are sent; each may be overwritten when the next one is requested. */
  buffers(): Iterable<Buffer>;
}
