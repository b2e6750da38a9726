import type { Category } from '../../src/domain/scan/classify/categories.ts'
import type { ClassifierHead } from '../../src/adapters/classifiers/embedded/model.ts'

/** The label that a head learns from. */
export const labelOf = (head: ClassifierHead): Category => (head === 'abuse' ? 'sexual/minors' : head)

type HeadPlan = {
  /** Lists for which the head may learn a weight. */
  readonly lists: readonly string[]
  /** Buckets per window. */
  readonly window: number
  /** A window is flagged only if it contains a word of each of these groups of lists. */
  readonly evidence: readonly (readonly string[])[]
  /** Lists of which one word is enough in a text without other features. */
  readonly sufficient?: readonly string[]
  /** Lists of which one word outweighs one of a sufficient list. */
  readonly harmless?: readonly string[]
}

const sexualLists = ['sexual-explicit', 'sexual-suggestive', 'sexual-clinical']

const otherLanguages = ['crisis-multilingual', 'distress-multilingual', 'protection-multilingual', 'idiom-multilingual']

export const headPlans: Readonly<Record<ClassifierHead, HeadPlan>> = {
  sexual: { lists: [...sexualLists, 'context', 'protection'], window: 4, evidence: [sexualLists] },
  hate: { lists: ['group', 'hostile', 'violence', 'insult', 'you'], window: 2, evidence: [] },
  harassment: { lists: [], window: 2, evidence: [] },
  'self-harm': {
    lists: ['crisis', 'distress', 'self', 'you', 'context', 'protection', ...otherLanguages],
    window: 2,
    evidence: [['crisis', 'distress', 'crisis-multilingual', 'distress-multilingual']],
    sufficient: ['crisis-multilingual'],
    harmless: ['idiom-multilingual'],
  },
  abuse: {
    lists: [...sexualLists, 'exploitation', 'minor-strong', 'minor-likely', 'frame', 'context', 'protection', 'self'],
    window: 2,
    evidence: [['exploitation', 'minor-strong', 'minor-likely', 'minor-weak']],
  },
  illicit: {
    lists: ['illicit', 'illicit-weak', 'frame', 'context', 'violence', 'person'],
    window: 2,
    evidence: [['illicit', 'illicit-weak', 'violence']],
  },
}

/** Pairs of lists whose co-occurrence within a few words is a feature. */
export const listPairs: readonly (readonly [string, string])[] = [
  ['sexual-explicit', 'sexual-explicit'],
  ['sexual-explicit', 'sexual-suggestive'],
  ['sexual-suggestive', 'sexual-suggestive'],
  ['sexual-clinical', 'sexual-suggestive'],
  ['sexual-clinical', 'context'],
  ['sexual-clinical', 'protection'],
  ['sexual-clinical', 'minor-strong'],
  ['sexual-explicit', 'minor-strong'],
  ['sexual-clinical', 'minor-likely'],
  ['sexual-explicit', 'minor-likely'],
  ['sexual-suggestive', 'minor-likely'],
  ['minor-strong', 'context'],
  ['minor-strong', 'protection'],
  ['exploitation', 'minor-strong'],
  ['exploitation', 'minor-likely'],
  ['exploitation', 'context'],
  ['exploitation', 'protection'],
  ['exploitation', 'frame'],
  ['crisis', 'self'],
  ['crisis', 'context'],
  ['crisis', 'protection'],
  ['crisis-multilingual', 'protection-multilingual'],
  ['distress-multilingual', 'distress-multilingual'],
  ['distress-multilingual', 'protection-multilingual'],
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
  ['illicit-weak', 'frame'],
  ['illicit-weak', 'illicit'],
  ['illicit-weak', 'illicit-weak'],
  ['illicit-weak', 'context'],
  ['violence', 'person'],
  ['violence', 'frame'],
  ['violence', 'context'],
]
