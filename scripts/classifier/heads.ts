import type { Category } from '../../src/domain/moderation/categories.ts'
import type { Head } from '../../src/adapters/classifiers/embedded/model.ts'

/** The label that a head learns from. */
export const labelOf = (head: Head): Category => (head === 'abuse' ? 'sexual/minors' : head)

/** Which lists each head may use, and how long its windows are. */
export const headPlans: Readonly<Record<Head, { readonly lists: readonly string[]; readonly window: number }>> = {
  sexual: {
    lists: ['sexual-explicit', 'sexual-suggestive', 'sexual-clinical', 'minor-strong', 'minor-weak', 'context'],
    window: 4,
  },
  hate: { lists: ['group', 'hostile', 'violence', 'insult', 'you'], window: 2 },
  harassment: { lists: [], window: 2 },
  'self-harm': { lists: ['crisis', 'distress', 'self', 'you', 'context'], window: 2 },
  abuse: {
    lists: ['exploitation', 'minor-strong', 'sexual-explicit', 'sexual-clinical', 'frame', 'context', 'self'],
    window: 2,
  },
  illicit: { lists: ['illicit', 'frame', 'context', 'violence', 'person'], window: 2 },
}

/** Lists whose meeting within a few words says more than both apart. */
export const listPairs: readonly (readonly [string, string])[] = [
  ['sexual-explicit', 'sexual-explicit'],
  ['sexual-explicit', 'sexual-suggestive'],
  ['sexual-suggestive', 'sexual-suggestive'],
  ['sexual-clinical', 'sexual-suggestive'],
  ['sexual-clinical', 'context'],
  ['sexual-clinical', 'minor-strong'],
  ['sexual-explicit', 'minor-strong'],
  ['minor-strong', 'context'],
  ['exploitation', 'minor-strong'],
  ['exploitation', 'context'],
  ['exploitation', 'frame'],
  ['crisis', 'self'],
  ['crisis', 'context'],
  ['distress', 'self'],
  ['distress', 'distress'],
  ['distress', 'context'],
  ['group', 'hostile'],
  ['group', 'violence'],
  ['group', 'insult'],
  ['hostile', 'hostile'],
  ['you', 'insult'],
  ['you', 'violence'],
  ['illicit', 'frame'],
  ['illicit', 'illicit'],
  ['illicit', 'context'],
  ['violence', 'person'],
  ['violence', 'frame'],
  ['violence', 'context'],
]
