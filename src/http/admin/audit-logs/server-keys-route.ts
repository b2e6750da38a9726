import type { TrustedKeys } from '../../../domain/audit/chain/trusted-keys.ts'
import type { AuditReads } from '../../../domain/audit/log.ts'
import type { Route } from '../../route.ts'
import { presentKeys } from './present.ts'
import { CheckpointKeys } from './schema.ts'

/** For the operator, who may ask before there is an organization. */
export const serverKeysRoute = (events: AuditReads, audit: { readonly trustedKeys: () => TrustedKeys }): Route => ({
  name: 'listServerKeys',
  method: 'GET',
  path: '/operator/audit_log/keys',
  summary: 'List the public keys of the server secret',
  credential: 'operator',
  answers: { 200: { description: 'The keys that sign checkpoints.', schema: CheckpointKeys } },
  handle: async () => presentKeys(audit.trustedKeys().keys, await events.keys()),
})
