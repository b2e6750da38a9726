/** The time at which a key stops working, null for never, undefined where the request does not say. */
export const expiryMs = (expiresAtSeconds: number | null | undefined): number | null | undefined =>
  typeof expiresAtSeconds === 'number' ? expiresAtSeconds * 1000 : expiresAtSeconds
