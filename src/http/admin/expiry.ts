/** The expiry of a key in milliseconds; null for never, undefined if the request has none. */
export const expiryMs = (expiresAtSeconds: number | null | undefined): number | null | undefined =>
  typeof expiresAtSeconds === 'number' ? expiresAtSeconds * 1000 : expiresAtSeconds
