import { hash32 } from '../../../runtime/random.ts';

/** The shard of a serial, by jump consistent hash (Lamping and Veach, 2014): when n shards become n + 1, one serial in n + 1 moves. */
export function shardOf(serial: string, total: number): number {
  let key = (BigInt(hash32(serial)) << 32n) | BigInt(hash32(`${serial}#`));
  let shard = -1;
  let next = 0;
  while (next < total) {
    shard = next;
    key = BigInt.asUintN(64, key * 2862933555777941757n + 1n);
    next = Math.floor((shard + 1) * (2 ** 31 / (Number(key >> 33n) + 1)));
  }
  return shard;
}
