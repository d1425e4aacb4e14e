/** What repeats of one measurement say. Pure. */

/** All repeats of one measurement, in the order in which they were made. */
export interface Sample {
  readonly values: readonly number[];
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
}

export function sample(values: readonly number[]): Sample {
  if (values.length === 0) throw new RangeError('A sample needs at least one value.');
  return {
    values: [...values],
    median: percentile(values, 50),
    minimum: Math.min(...values),
    maximum: Math.max(...values),
  };
}

/**
 * The value below which so many per cent of the values lie, interpolated between neighbours: the 50th is the median,
 * also of an even count.
 */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) throw new RangeError('There is no percentile of nothing.');
  if (!(percent >= 0 && percent <= 100)) throw new RangeError(`${percent} is no percentage.`);
  const sorted = [...values].sort((left, right) => left - right);
  const place = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

/**
 * One ratio per repeat: what disturbed the machine during a repeat disturbed both sides of it. Where the sides have
 * different counts of values, their medians are compared.
 */
export function ratioOf(product: Sample, peer: Sample): Sample {
  if (product.values.length !== peer.values.length) return sample([product.median / peer.median]);
  return sample(product.values.map((value, place) => value / (peer.values[place] ?? Number.NaN)));
}
