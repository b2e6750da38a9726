import type { Clock } from '../../base/clock.ts'
import type { ArchiveTarget } from '../../domain/audit/archive/target.ts'
import { Unreachable, type ReceivedResponse, type SendRequest } from '../network/request.ts'
import { errorCodeOf, objectUrl, putHeaders, type S3Location, type S3Storage } from '../sinks/s3-requests.ts'
import { signRequest, type AwsCredentials } from '../sinks/sigv4.ts'

export type S3ArchiveSettings = S3Location & S3Storage & { readonly prefix?: string | undefined }

export type S3ArchiveParts = {
  readonly request: SendRequest
  readonly clock: Pick<Clock, 'nowMs'>
  /** Called for every request, because they may be reloaded from a file. */
  readonly credentials: () => AwsCredentials
}

type Unsigned = {
  readonly method: 'GET' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Larger than any object of the archive. */
const maxObjectBytes = 512 * 1024 * 1024

/** Objects in a bucket of S3 or of a store with conditional writes, without which an object could be replaced. */
export function s3Archive(settings: S3ArchiveSettings, { request, clock, credentials }: S3ArchiveParts): ArchiveTarget {
  const { region, prefix = '' } = settings
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`

  const send = async (name: string, { method, headers, body }: Unsigned): Promise<ReceivedResponse> => {
    const unsigned = { method, url: objectUrl(settings, folder + name), headers, body }
    const signed = signRequest({ ...unsigned, region, service: 's3', nowMs: clock.nowMs() }, credentials())
    const { signal } = new AbortController()
    const outgoing = { method, url: unsigned.url, headers: signed, signal, maxResponseBytes: maxObjectBytes }
    try {
      return await request(method === 'PUT' ? { ...outgoing, body } : outgoing)
    } catch (error) {
      throw error instanceof Unreachable ? new Error(`audit.archive.s3: ${causeOf(error)}`, { cause: error }) : error
    }
  }

  return {
    kind: 's3',
    async create(name, bytes) {
      const contentType = name.endsWith('.json') ? 'application/json' : 'application/zstd'
      const headers = putHeaders({ ...settings, isConditional: true }, { body: bytes, contentType })
      const response = await send(name, { method: 'PUT', headers, body: bytes })
      if (response.status === 412) return 'exists'
      assertOk(response, `write ${name}`)
      return 'created'
    },
    async read(name) {
      const owner = settings.expected_bucket_owner
      const headers: Record<string, string> = owner === undefined ? {} : { 'x-amz-expected-bucket-owner': owner }
      const response = await send(name, { method: 'GET', headers, body: new Uint8Array() })
      assertOk(response, `read ${name}`)
      return response.body
    },
  }
}

const causeOf = ({ message, cause }: Unreachable): string => `${message} ${cause instanceof Error ? cause.message : ''}`

function assertOk(response: ReceivedResponse, action: string): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  const code = errorCodeOf(response)
  const hint = status === 501 ? ' It must support conditional writes.' : ''
  throw new Error(
    `audit.archive.s3: the store answered ${status}${code === undefined ? '' : ` (${code})`} to the request to ${action}.${hint}`,
  )
}
