/** The time at which a key stops working, or null for never. */
export const expiryMs = (expiresAtSeconds: number | null | undefined): number | null =>
  expiresAtSeconds === undefined || expiresAtSeconds === null ? null : expiresAtSeconds * 1000
