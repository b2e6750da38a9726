import { efforts, type Effort } from '../../../domain/inference/request.ts'

const known: ReadonlySet<string> = new Set(efforts)

/** All dialects use the same words for how hard a model shall think; one we do not know is left to the upstream. */
export const effortByName = (word: string | null | undefined): Effort | undefined => (isEffort(word) ? word : undefined)

const isEffort = (word: string | null | undefined): word is Effort => typeof word === 'string' && known.has(word)
