import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Runs off the main thread. The same text gives the same bytes, so that a retry repeats the request exactly. */
export const gzipped = promisify<string, Buffer>((text, callback) => gzip(text, callback))

/** A body and the headers that describe it. */
export type CompressedBody = { readonly body: string | Buffer; readonly headers: Readonly<Record<string, string>> }

export async function compressed(
  text: string,
  contentType: string,
  compression: 'gzip' | 'none',
): Promise<CompressedBody> {
  const headers = { 'content-type': contentType }
  if (compression === 'none') return { body: text, headers }
  return { body: await gzipped(text), headers: { ...headers, 'content-encoding': 'gzip' } }
}
