import type { ReceivedResponse } from '../network/request.ts'
import { codeOf } from './response-mapping.ts'
import type { SinkParts } from './define.ts'
import { signRequest, type AwsCredentials } from './sigv4.ts'

/** Where credentials come from: a pair that was typed in, or a role that we may assume for a while. */
export type CredentialSource = {
  current(signal: AbortSignal): Promise<AwsCredentials | CredentialProblem>
  /** Told when the store no longer accepts them. */
  forget(): void
}

export type CredentialProblem = {
  readonly problem: 'auth' | 'unavailable'
  readonly reason: string
  readonly answer?: ReceivedResponse
}

export type RoleAuth = { readonly role_arn: string; readonly external_id: string; readonly region: string }

const lifeSeconds = 3_600
const renewBeforeMs = 5 * 60_000

export const fixedCredentials = (credentials: AwsCredentials): CredentialSource => ({
  current: async () => credentials,
  forget: () => {},
})

/**
 * Assumes the tenant's role with the operator's own identity. The external id is ours, so that nobody can have us
 * use a role that was opened for somebody else.
 */
export function assumedCredentials(role: RoleAuth, parts: SinkParts): CredentialSource {
  let held: { readonly credentials: AwsCredentials; readonly renewAtMs: number } | undefined
  return {
    forget: () => {
      held = undefined
    },
    async current(signal) {
      if (held && parts.clock.nowMs() < held.renewAtMs) return held.credentials
      const answer = await askSts(role, parts, signal)
      if ('problem' in answer) return answer
      const taken = takenFrom(answer)
      if (!taken) return problemOf(answer)
      held = taken
      return taken.credentials
    },
  }
}

async function askSts(
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
    DurationSeconds: String(lifeSeconds),
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

function takenFrom({ status, body }: ReceivedResponse) {
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

function problemOf(answer: ReceivedResponse): CredentialProblem {
  const code = codeOf(/<Code>([^<]+)<\/Code>/.exec(answer.body.toString())?.[1]) ?? 'no code'
  const reason = `AWS answered ${answer.status} (${code}) when the role was to be assumed.`
  const isRefused = (answer.status === 400 || answer.status === 403) && !code.startsWith('Throttling')
  return { problem: isRefused ? 'auth' : 'unavailable', reason, answer }
}

/** China has its own. */
export const awsDomain = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')
