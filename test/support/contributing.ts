import type { SharedLimitStore } from '../../src/domain/limits/store.ts'
import type { AdmissionRequest, AdmissionResult } from '../../src/domain/limits/admission.ts'

type ContributingStore = Omit<SharedLimitStore, 'admit'> & {
  admit(request: AdmissionRequest): Promise<AdmissionResult>
}

/** Shared counters of a node that contributes no usage: it contributes zero for each organization it sees. */
export function contributing(store: SharedLimitStore, node = 'test'): ContributingStore {
  let number = 0
  const admit = async (request: AdmissionRequest): Promise<AdmissionResult> => {
    const verdict = await store.admit(request)
    if (verdict !== 'forgotten') return verdict
    const use = { organization: request.organization, scopes: [], running: [] }
    await store.contribute({ use, node, number: ++number, isAll: true })
    return admit(request)
  }
  return { ...store, admit }
}

/** Begins an incarnation, which has no counters of budgets, before a test opens some. */
export const contributeNothing = (store: Pick<SharedLimitStore, 'contribute'>, organization: string) =>
  store.contribute({ use: { organization, scopes: [], running: [] }, node: 'test', number: 0, isAll: true })
