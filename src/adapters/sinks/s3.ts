import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import Type, { type Static } from 'typebox'
import type { ConfigProblem, DeliveryOutcome, Sink } from '../../domain/audit/export/sink.ts'
import { merged, valueAt, type Configuration } from '../../domain/audit/export/configuration.ts'
import { Unreachable, type ReceivedResponse } from '../network/request.ts'
import { codeOf, delivered, pauseFor, retryLater } from './response-mapping.ts'
import { assumedCredentials, awsDomain, fixedCredentials, type CredentialProblem } from './aws-credentials.ts'
import { defineSink, type SinkParts } from './define.ts'
import { caField, caProblems, commonFields, strict, urlField, urlProblems } from './fields.ts'
import { objectsOf, type StoredObject } from './s3-objects.ts'
import { encodeKey, signRequest } from './sigv4.ts'

const printable = (maxLength: number) => Type.String({ pattern: `^[\\x21-\\x7e]{1,${maxLength}}$` })

const S3Config = Type.Object(
  {
    bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$' }),
    region: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }),
    endpoint: Type.Optional(urlField('A store that speaks S3, other than AWS.')),
    force_path_style: Type.Optional(Type.Boolean()),
    prefix: Type.Optional(Type.String({ maxLength: 512, pattern: "^[A-Za-z0-9!_.*'()/=-]*$" })),
    auth: Type.Union([
      Type.Object(
        {
          type: Type.Literal('access_key'),
          access_key_id: printable(128),
          secret_access_key: printable(500),
          session_token: Type.Optional(printable(4_096)),
        },
        strict,
      ),
      Type.Object(
        {
          type: Type.Literal('assume_role'),
          role_arn: Type.String({ pattern: '^arn:aws[a-z-]*:iam::\\d{12}:role/[\\w+=,.@/-]{1,512}$' }),
          external_id: Type.String({ minLength: 2, maxLength: 1_224, readOnly: true, description: 'Made by us.' }),
        },
        strict,
      ),
    ]),
    sse: Type.Optional(Type.Enum(['AES256', 'aws:kms'])),
    kms_key_id: Type.Optional(printable(2_048)),
    storage_class: Type.Optional(
      Type.Enum([
        'STANDARD',
        'STANDARD_IA',
        'ONEZONE_IA',
        'INTELLIGENT_TIERING',
        'GLACIER',
        'GLACIER_IR',
        'DEEP_ARCHIVE',
      ]),
    ),
    expected_bucket_owner: Type.Optional(Type.String({ pattern: '^\\d{12}$' })),
    conditional_put: Type.Optional(
      Type.Boolean({ description: 'Write only where nothing is yet. Default true; off for stores that cannot.' }),
    ),
    tls_ca_pem: Type.Optional(caField),
    ...commonFields,
  },
  strict,
)
type S3Config = Static<typeof S3Config>

/** One object per batch: gzipped lines of canonical JSON, the very text that was hashed where no content is added. */
export const s3 = defineSink({
  type: 's3',
  schema: S3Config,
  secretFields: ['auth.secret_access_key', 'auth.session_token'],
  destinationFields: ['bucket', 'region', 'endpoint', 'auth.type', 'auth.access_key_id', 'auth.role_arn'],
  check: (config) => [
    ...placeProblems(config),
    ...urlProblems(config.endpoint, { path: 'endpoint' }),
    ...caProblems(config.tls_ca_pem),
  ],
  completed: withExternalId,
  create: createS3Sink,
})

/** The external id is ours alone to choose: it keeps others from having us use a role that was opened for this sink. */
function withExternalId(config: Configuration, before: Configuration, makeId: () => string): Configuration {
  if (valueAt(config, 'auth.type') !== 'assume_role') return config
  const known = valueAt(before, 'auth.external_id')
  const externalId = typeof known === 'string' ? known : makeId()
  return merged(config, { auth: { external_id: externalId } })
}

function createS3Sink(config: S3Config, parts: SinkParts): Sink {
  const { request, clock } = parts
  const { auth, region } = config
  const credentials =
    auth.type === 'assume_role'
      ? assumedCredentials({ ...auth, region }, parts)
      : fixedCredentials({
          accessKeyId: auth.access_key_id,
          secretAccessKey: auth.secret_access_key,
          sessionToken: auth.session_token,
        })

  const put = async (object: StoredObject, signal: AbortSignal): Promise<DeliveryOutcome> => {
    const held = await credentials.current(signal)
    if ('problem' in held) return credentialOutcome(held, clock.nowMs())
    const unsigned = {
      method: 'PUT',
      url: urlOf(config, object.key),
      headers: headersOf(config, object),
      body: object.body,
    } as const
    const headers = signRequest({ ...unsigned, region, service: 's3', nowMs: clock.nowMs() }, held)
    const answer = await request({ ...unsigned, headers, signal })
    if (errorCode(answer) === 'ExpiredToken') credentials.forget()
    return judgePut(answer, auth.type === 'assume_role', clock.nowMs())
  }

  return {
    goal: { events: 50_000, bytes: 5_000_000, waitMs: 60_000 },
    async deliver(batch, signal) {
      const outcome = await putAll(await objectsOf(batch, config.prefix), (object) => put(object, signal))
      return batch.map(() => outcome)
    },
  }
}

async function putAll(
  objects: readonly StoredObject[],
  put: (object: StoredObject) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  try {
    for (const object of objects) {
      const outcome = await put(object)
      if (outcome.kind !== 'delivered') return outcome
    }
    return delivered
  } catch (error) {
    if (error instanceof Unreachable) return { kind: 'retry', reason: error.message, cause: error.cause }
    throw error
  }
}

/** Some stores say these with another status than AWS does. */
const authCodes = ['ExpiredToken', 'InvalidAccessKeyId', 'InvalidToken', 'SignatureDoesNotMatch']
const retryCodes = ['RequestTimeout', 'BadDigest', 'XAmzContentSHA256Mismatch', 'IncompleteBody', 'SlowDown']

function judgePut(answer: ReceivedResponse, isAssumed: boolean, nowMs: number): DeliveryOutcome {
  const { status, headers } = answer
  const code = errorCode(answer)
  const reason = `The store answered ${status}${code === undefined ? '' : ` (${code})`}.`
  if (status >= 200 && status < 300) return delivered
  if (status === 412) return delivered // an earlier attempt wrote this very object
  if (code === 'RequestTimeTooSkewed') return retryLater(`${reason} The clock of this gateway is wrong.`, answer, nowMs)
  if (code === 'ExpiredToken' && isAssumed) return retryLater(reason, answer, nowMs)
  if (status === 501) return pauseFor('config_error', `${reason} Switch conditional_put off for this store.`)
  if (status >= 500 || [408, 409, 429].includes(status) || retryCodes.includes(code ?? '')) {
    return retryLater(reason, answer, nowMs)
  }
  const bucketRegion = codeOf(headers['x-amz-bucket-region'])
  if (bucketRegion !== undefined && status !== 403)
    return pauseFor('config_error', `${reason} The bucket is in ${bucketRegion}.`)
  const isAuth = status === 401 || status === 403 || authCodes.includes(code ?? '')
  return pauseFor(isAuth ? 'auth_error' : 'config_error', reason)
}

function credentialOutcome({ problem, reason, answer }: CredentialProblem, nowMs: number): DeliveryOutcome {
  if (problem === 'auth') return pauseFor('auth_error', reason)
  return answer ? retryLater(reason, answer, nowMs) : { kind: 'retry', reason }
}

const errorCode = ({ body }: ReceivedResponse): string | undefined =>
  codeOf(/<Code>([^<]+)<\/Code>/.exec(body.toString())?.[1])

/** Virtual-host style for AWS, path style for others and where a dot in the name would not fit the certificate. */
function urlOf(config: S3Config, key: string): URL {
  const { bucket, region, endpoint = `https://s3.${region}.${awsDomain(region)}` } = config
  const url = new URL(endpoint)
  const isPathStyle = config.force_path_style ?? (config.endpoint !== undefined || bucket.includes('.'))
  if (!isPathStyle) url.host = `${bucket}.${url.host}`
  url.pathname = isPathStyle ? `/${bucket}/${encodeKey(key)}` : `/${encodeKey(key)}`
  return url
}

function headersOf(config: S3Config, { body, contentType, contentEncoding }: StoredObject): Record<string, string> {
  const optional = {
    'content-encoding': contentEncoding,
    'if-none-match': (config.conditional_put ?? true) ? '*' : undefined,
    'x-amz-server-side-encryption': config.sse,
    'x-amz-server-side-encryption-aws-kms-key-id': config.kms_key_id,
    'x-amz-storage-class': config.storage_class,
    'x-amz-expected-bucket-owner': config.expected_bucket_owner,
  }
  const headers: Record<string, string> = {
    'content-type': contentType,
    // Understood by every store, unlike newer checksums, and asked for by Object Lock.
    'content-md5': createHash('md5').update(body).digest('base64'),
  }
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) headers[name] = value
  return headers
}

function placeProblems({
  bucket,
  region,
  endpoint,
  prefix = '',
  kms_key_id: kmsKeyId,
  sse,
}: S3Config): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  if (isIP(bucket) !== 0 || bucket.includes('..')) problems.push({ path: 'bucket', message: 'is not a bucket’s name' })
  if (endpoint === undefined && !/^[a-z]{2}(-[a-z]+)+-\d$/.test(region)) {
    problems.push({ path: 'region', message: 'is not a region of AWS' })
  }
  if (prefix.startsWith('/') || prefix.includes('..')) {
    problems.push({ path: 'prefix', message: 'must not begin with a slash or hold ".."' })
  }
  if (kmsKeyId !== undefined && sse !== 'aws:kms')
    problems.push({ path: 'kms_key_id', message: 'belongs to sse aws:kms' })
  return problems
}
