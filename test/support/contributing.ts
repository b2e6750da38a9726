import type { SharedLimitStore } from '../../src/domain/limits/store.ts'
import type { AdmissionRequest, AdmissionResult } from '../../src/domain/limits/admission.ts'

type ContributingStore = Omit<SharedLimitStore, 'admit'> & {
  admit(request: AdmissionRequest): Promise<AdmissionResult>
}

/** Shared counters as a node uses them that has nothing to contribute: it says so to each organization it meets. */
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
