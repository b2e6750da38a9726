import type { AuditReads } from '../audit/log.ts'
import type { ListServedModels } from '../inference/served-models.ts'
import type { PolicyStore } from '../policy/store.ts'

/** What an organization has done of the first steps, no matter who did it. */
export type FirstSteps = {
  /** The newest request. */
  readonly requestId: string | null
  /** Whether a policy was published. */
  readonly hasPolicy: boolean
  /** Whether there is a model beside the built-in one, which a server without an upstream has. */
  readonly hasModel: boolean
}

export type FirstStepStores = {
  readonly events: Pick<AuditReads, 'listRequests'>
  readonly policies: Pick<PolicyStore, 'list'>
}

export type FirstStepReader = (stores: FirstStepStores, organizationId: string) => Promise<FirstSteps | undefined>

/** Reads the first steps; undefined once all are done. From then on nothing is read, because a step is never undone. */
export function createFirstSteps(listServedModels: ListServedModels): FirstStepReader {
  const done = new Set<string>()
  return async ({ events, policies }, organizationId) => {
    if (done.has(organizationId)) return undefined
    const [requests, listed, models] = await Promise.all([
      events.listRequests(organizationId, {}, { limit: 1, order: 'desc' }),
      policies.list(organizationId, { limit: 100, order: 'desc' }),
      listServedModels(organizationId),
    ])
    const steps = {
      requestId: requests.items[0]?.document.metadata.correlation_uid ?? null,
      hasPolicy: listed.items.some(({ currentVersion }) => currentVersion !== null),
      hasModel: models.some(({ definedIn }) => definedIn.source !== 'built_in'),
    }
    if (steps.requestId === null || !steps.hasPolicy || !steps.hasModel) return steps
    done.add(organizationId)
    return undefined
  }
}
