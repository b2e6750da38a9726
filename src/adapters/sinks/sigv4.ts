import { createHash, createHmac } from 'node:crypto'

export type AwsCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

export type Signable = {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly region: string
  readonly service: 's3' | 'sts'
  readonly nowMs: number
}

/**
 * AWS Signature Version 4 in headers, over all given headers and the hash of the payload. Returns all headers to send. The path
 * of the URL must already be encoded (`encodeKey`), and its query must be empty.
 */
export function signRequest(request: Signable, credentials: AwsCredentials): Record<string, string> {
  const time = amzTime(request.nowMs)
  const payloadHash = sha256(request.body)
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    'x-amz-date': time,
    'x-amz-content-sha256': payloadHash,
    ...(credentials.sessionToken !== undefined && { 'x-amz-security-token': credentials.sessionToken }),
  }
  const names = Object.keys(headers).sort()
  const canonicalHeaders = names.map((name) => `${name}:${headers[name]?.trim().replaceAll(/ +/g, ' ')}\n`).join('')
  const signedHeaders = names.join(';')
  const canonical = [request.method, request.url.pathname, '', canonicalHeaders, signedHeaders, payloadHash].join('\n')
  const scope = `${time.slice(0, 8)}/${request.region}/${request.service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  const credential = `${credentials.accessKeyId}/${scope}`
  const signature = hmac(key, text).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`
  return { ...headers, authorization }
}

/** Encodes a key for a path: escapes every byte that is not unreserved in RFC 3986, except slashes. */
export const encodeKey = (key: string): string =>
  encodeURIComponent(key)
    .replaceAll('%2F', '/')
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** 20130524T000000Z */
const amzTime = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
