/** Damps repeated hits of a list: the tenth adds less than the second. The trainer and the classifier share it. */
export const damp = (count: number): number => Math.log1p(count) / 2
