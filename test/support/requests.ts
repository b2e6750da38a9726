import type { CallerFormat } from '../../src/domain/inference/formats.ts'
import type { InferenceRequest } from '../../src/domain/inference/request.ts'
import { vendorFieldRoles } from '../../src/wire/field-roles.ts'

/** A request of a caller that uses this dialect. */
export const requestBy = (
  dialect: CallerFormat,
  fields: Partial<InferenceRequest> = {},
  body: Record<string, unknown> = {},
): InferenceRequest => ({
  model: 'default-model',
  stream: true,
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect, body, headers: {}, roles: vendorFieldRoles },
  ...fields,
})
