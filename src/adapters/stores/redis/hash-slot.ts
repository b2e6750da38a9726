/** How many hash slots a Redis Cluster has. */
export const slotCount = 16_384

/** The hash slot of a key with this tag in braces: CRC-16 (XMODEM) of the tag. */
export function slotOf(tag: string): number {
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  }
  return (crc & 0xffff) % slotCount
}
