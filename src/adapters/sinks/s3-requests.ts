import { createHash } from 'node:crypto'
import type { ReceivedResponse } from '../network/request.ts'
import { awsDomain } from './aws-credentials.ts'
import { codeOf } from './response-mapping.ts'
import type { StoredObject } from './s3-objects.ts'
import { encodeKey } from './sigv4.ts'

/** Where a bucket is. */
export type S3Location = {
  readonly bucket: string
  readonly region: string
  readonly endpoint?: string | undefined
  readonly force_path_style?: boolean | undefined
}

/** How objects are stored. */
export type S3Storage = {
  readonly sse?: string | undefined
  readonly kms_key_id?: string | undefined
  readonly storage_class?: string | undefined
  readonly expected_bucket_owner?: string | undefined
}

/** Virtual-host style for AWS; path style for other stores, and if a dot in the name would not match the certificate. */
export function objectUrl(location: S3Location, key: string): URL {
  const { bucket, region, endpoint = `https://s3.${region}.${awsDomain(region)}` } = location
  const url = new URL(endpoint)
  const isPathStyle = location.force_path_style ?? (location.endpoint !== undefined || bucket.includes('.'))
  if (!isPathStyle) url.host = `${bucket}.${url.host}`
  url.pathname = isPathStyle ? `/${bucket}/${encodeKey(key)}` : `/${encodeKey(key)}`
  return url
}

/** `isConditional`: the object is written only if there is none with its key. */
export function putHeaders(
  storage: S3Storage & { readonly isConditional: boolean },
  { body, contentType, contentEncoding }: Omit<StoredObject, 'key'>,
): Record<string, string> {
  const optional = {
    'content-encoding': contentEncoding,
    'if-none-match': storage.isConditional ? '*' : undefined,
    'x-amz-server-side-encryption': storage.sse,
    'x-amz-server-side-encryption-aws-kms-key-id': storage.kms_key_id,
    'x-amz-storage-class': storage.storage_class,
    'x-amz-expected-bucket-owner': storage.expected_bucket_owner,
  }
  const headers: Record<string, string> = {
    'content-type': contentType,
    // Every store supports MD5, unlike newer checksums, and Object Lock requires it.
    'content-md5': createHash('md5').update(body).digest('base64'),
  }
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) headers[name] = value
  return headers
}

/** The code of an error, such as `NoSuchBucket`. */
export const errorCodeOf = ({ body }: ReceivedResponse): string | undefined =>
  codeOf(/<Code>([^<]+)<\/Code>/.exec(body.toString())?.[1])
