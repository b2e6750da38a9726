import type { ReceivedResponse } from '../network/request.ts'
import { codeOf } from './response-mapping.ts'
import type { SinkParts } from './define.ts'
import { signRequest, type AwsCredentials } from './sigv4.ts'

/** The source of AWS credentials: a configured key pair, or an assumed role. */
export type CredentialSource = {
  current(signal: AbortSignal): Promise<AwsCredentials | CredentialProblem>
  /** Called when the store no longer accepts the credentials. */
  invalidate(): void
}

export type CredentialProblem = {
  readonly problem: 'auth' | 'unavailable'
  readonly reason: string
  readonly response?: ReceivedResponse
}

export type RoleAuth = { readonly role_arn: string; readonly external_id: string; readonly region: string }

const durationSeconds = 3_600
const renewBeforeMs = 5 * 60_000

export const fixedCredentials = (credentials: AwsCredentials): CredentialSource => ({
  current: async () => credentials,
  invalidate: () => {},
})

/**
 * Assumes the tenant's role with the operator's own identity. The gateway chooses the external id, so that a tenant cannot make
 * it use a role that belongs to another tenant.
 */
export function assumedCredentials(role: RoleAuth, parts: SinkParts): CredentialSource {
  let cached: { readonly credentials: AwsCredentials; readonly renewAtMs: number } | undefined
  return {
    invalidate: () => {
      cached = undefined
    },
    async current(signal) {
      if (cached && parts.clock.nowMs() < cached.renewAtMs) return cached.credentials
      const response = await assumeRole(role, parts, signal)
      if ('problem' in response) return response
      const issued = credentialsIn(response)
      if (!issued) return problemOf(response)
      cached = issued
      return issued.credentials
    },
  }
}

async function assumeRole(
  role: RoleAuth,
  parts: SinkParts,
  signal: AbortSignal,
): Promise<ReceivedResponse | CredentialProblem> {
  if (!parts.awsCredentials) {
    return { problem: 'auth', reason: 'This gateway has no AWS identity of its own, so it cannot assume a role.' }
  }
  const url = new URL(`https://sts.${role.region}.${awsDomain(role.region)}/`)
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role.role_arn,
    RoleSessionName: 'gatehouse-export',
    ExternalId: role.external_id,
    DurationSeconds: String(durationSeconds),
  }).toString()
  const unsigned = {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  } as const
  const headers = signRequest(
    { ...unsigned, region: role.region, service: 'sts', nowMs: parts.clock.nowMs() },
    parts.awsCredentials,
  )
  return parts.request({ ...unsigned, headers, signal })
}

function credentialsIn({ status, body }: ReceivedResponse) {
  const text = body.toString()
  const element = (name: string): string => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? ''
  const credentials = {
    accessKeyId: element('AccessKeyId'),
    secretAccessKey: element('SecretAccessKey'),
    sessionToken: element('SessionToken'),
  }
  const expiresAtMs = Date.parse(element('Expiration'))
  if (status !== 200 || credentials.secretAccessKey === '' || Number.isNaN(expiresAtMs)) return undefined
  return { credentials, renewAtMs: expiresAtMs - renewBeforeMs }
}

function problemOf(response: ReceivedResponse): CredentialProblem {
  const code = codeOf(/<Code>([^<]+)<\/Code>/.exec(response.body.toString())?.[1]) ?? 'no code'
  const reason = `AWS answered ${response.status} (${code}) to the request to assume the role.`
  const isRejected = (response.status === 400 || response.status === 403) && !code.startsWith('Throttling')
  return { problem: isRejected ? 'auth' : 'unavailable', reason, response }
}

/** The regions in China have a domain of their own. */
export const awsDomain = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')
