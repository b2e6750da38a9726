import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { Fault } from '../../../base/fault.ts'
import type { PolicyLabels } from '../../../pipeline/operation-call.ts'

/** Headers that label a request for policies. `X-Policy-Project` is checked with the key (`caller.ts`). */
export const policyHeaders = {
  'X-Policy-User': Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The end user, for user quotas and rollouts. Default: the user in the body.',
    }),
  ),
  'X-Policy-Target': Type.Optional(Type.String({ maxLength: 256, description: 'A label that rollouts can select.' })),
  'X-Policy-Id': Type.Optional(
    Type.String({
      maxLength: 2000,
      description: 'Ids of policies that apply in addition to the attached ones, separated by commas.',
    }),
  ),
  'X-Policy-Project': Type.Optional(
    Type.String({ maxLength: 200, description: 'Must be the project of the key, if sent.' }),
  ),
}

const maxLabelLength = 256
const maxPoliciesLength = 2000

const noLabels: PolicyLabels = { policyIds: [] }

export function policyLabelsOf(headers: IncomingHttpHeaders): PolicyLabels {
  const { 'x-policy-id': policies, 'x-policy-user': user, 'x-policy-target': target } = headers
  if (policies === undefined && user === undefined && target === undefined) return noLabels
  const named = textOf(headers, 'X-Policy-Id', maxPoliciesLength) ?? ''
  const policyIds = named.split(',').map((id) => id.trim())
  return {
    user: textOf(headers, 'X-Policy-User', maxLabelLength),
    target: textOf(headers, 'X-Policy-Target', maxLabelLength),
    policyIds: policyIds.filter((id) => id !== ''),
  }
}

function textOf(headers: IncomingHttpHeaders, name: string, maxLength: number): string | undefined {
  const value = headers[name.toLowerCase()]
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string' && value.length <= maxLength) return value
  throw new Fault('malformed', 'invalid_header', `${name}: must be one value of at most ${maxLength} characters.`, {
    param: name,
  })
}
