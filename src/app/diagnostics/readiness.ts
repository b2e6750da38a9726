import type { ReadinessCheck } from '../../http/service/health.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { storageChecks } from '../storage/checks.ts'
import { workerChecks } from '../workers.ts'

type Watched = {
  readonly credits: { readonly problem: () => string | undefined }
  readonly counters: { readonly problem: () => string | undefined }
  readonly audit: { readonly archiveProblem: () => string | undefined }
  readonly serverProblem: () => string | undefined
}

/** What decides whether this server is ready for requests. */
export const readinessOf = (
  infrastructure: Infrastructure,
  { credits, counters, audit, serverProblem }: Watched,
): ReadinessCheck[] => [
  ...storageChecks(infrastructure),
  { part: 'credits', problem: async () => credits.problem() },
  { part: 'limits', problem: async () => counters.problem(), isVital: () => false },
  { part: 'audit archive', problem: async () => audit.archiveProblem(), isVital: () => false },
  ...workerChecks(infrastructure.workers),
  { part: 'server', problem: async () => serverProblem() },
]
