import { createHash, createHmac } from 'node:crypto'
import { testTimeMs } from './audit-documents.ts'
import type { Received, Reply } from './receiver.ts'

const accessSecret = 'access-secret/+'
/** Secrets of the access keys that the store knows. */
export const s3Secrets: Record<string, string> = { AKIAGATEWAY: accessSecret, ASIAROLE: 'role-secret' }
export const s3Auth = { type: 'access_key', access_key_id: 'AKIAGATEWAY', secret_access_key: accessSecret }

export type S3Rules = { readonly failure?: () => Reply | undefined; readonly nowMs?: number; readonly bucket?: string }
export type S3Objects = Map<string, Received>

export const s3Error = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>SECRET</Message></Error>`,
})

/** An S3 store that checks signature, payload hash, MD5, clock, bucket and condition. */
export function s3Store({ failure, nowMs = testTimeMs, bucket = 'audit' }: S3Rules, objects: S3Objects) {
  return (received: Received): Reply => {
    const reply = failure?.() ?? s3SignatureProblem(received, nowMs)
    if (reply) return reply
    const { headers, raw, target, method } = received
    const path = decodeURIComponent(target)
    const found = objects.get(path.slice(bucket.length + 2))
    if (method === 'GET') return found ? { status: 200, body: found.raw } : s3Error(404, 'NoSuchKey')
    if (method !== 'PUT') return s3Error(405, 'MethodNotAllowed')
    if (headers['x-amz-content-sha256'] !== createHash('sha256').update(raw).digest('hex')) {
      return s3Error(400, 'XAmzContentSHA256Mismatch')
    }
    if (headers['content-md5'] !== createHash('md5').update(raw).digest('base64')) return s3Error(400, 'BadDigest')
    if (!path.startsWith(`/${bucket}/`)) return s3Error(404, 'NoSuchBucket')
    const key = path.slice(bucket.length + 2)
    if (headers['if-none-match'] === '*' && objects.has(key)) return s3Error(412, 'PreconditionFailed')
    objects.set(key, received)
    return { status: 200, headers: { etag: '"x"' } }
  }
}

/** Signature Version 4 as the server recomputes it from the received request. */
export function s3SignatureProblem({ method, target, headers }: Received, nowMs: number): Reply | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/
  const [, id = '', day = '', region = '', names = '', signature] = pattern.exec(headers.authorization ?? '') ?? []
  const secret = s3Secrets[id]
  if (secret === undefined) return s3Error(403, 'InvalidAccessKeyId')
  const time = String(headers['x-amz-date'])
  const sentMs = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (Math.abs(sentMs - nowMs) > 15 * 60_000) return s3Error(403, 'RequestTimeTooSkewed')
  const mustSign = Object.keys(headers).filter((name) => name.startsWith('x-amz-') || name === 'host')
  if (!mustSign.every((name) => names.split(';').includes(name))) return s3Error(403, 'AccessDenied')
  let canonical = `${method}\n${target}\n\n`
  for (const name of names.split(';'))
    canonical += `${name}:${name === 'host' ? calledHost(headers) : String(headers[name])}\n`
  canonical += `\n${names}\n${String(headers['x-amz-content-sha256'])}`
  const step = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const signingKey = step(step(step(step(`AWS4${secret}`, day), region), 's3'), 'aws4_request')
  const hash = createHash('sha256').update(canonical).digest('hex')
  const expected = step(signingKey, `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${hash}`).toString(
    'hex',
  )
  return expected === signature ? undefined : s3Error(403, 'SignatureDoesNotMatch')
}

const calledHost = (headers: Received['headers']) => String(headers['x-called-host'] ?? headers.host)
