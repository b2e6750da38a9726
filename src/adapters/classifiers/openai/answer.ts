import { categories, perCategory, type Category, type PerCategory } from '../../../domain/moderation/categories.ts'
import { flagThreshold, type Classification } from '../../../domain/moderation/classifier.ts'
import type { ModerationCategory } from '../../../wire/openai-moderations.ts'

/** The vendor's categories for each category of the gateway. Violence has no counterpart. */
const vendorNames: PerCategory<readonly ModerationCategory[]> = {
  'self-harm': ['self-harm', 'self-harm/intent', 'self-harm/instructions'],
  'sexual/minors': ['sexual/minors'],
  harassment: ['harassment', 'harassment/threatening'],
  hate: ['hate', 'hate/threatening'],
  illicit: ['illicit', 'illicit/violent'],
  sexual: ['sexual'],
}

/** Decodes the response for one input. Throws if a category is missing. */
export function readClassification(answer: unknown): Classification {
  const result = firstOf(fieldOf(answer, 'results'))
  const flags = fieldOf(result, 'categories')
  const given = fieldOf(result, 'category_scores')
  const flagged = categories.filter((category) => isFlagged(category, flags))
  const scores = perCategory((category) => {
    const score = Math.max(...vendorNames[category].map((name) => scoreOf(given, name)))
    if (score < 0) throw new Error(`no score for ${category}`)
    // The vendor's scale differs: what it flags scores at least 0.5, anything else less.
    return flagged.includes(category) ? Math.max(score, flagThreshold) : Math.min(score, flagThreshold - 0.01)
  })
  return { scores, flagged }
}

const isFlagged = (category: Category, flags: unknown): boolean =>
  vendorNames[category].some((name) => fieldOf(flags, name) === true)

/** Negative if missing: older models do not have the finer categories. */
function scoreOf(scores: unknown, name: string): number {
  const score = fieldOf(scores, name)
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : -1
}

function firstOf(list: unknown): unknown {
  if (Array.isArray(list) && list.length === 1) return list[0]
  throw new Error('not one result')
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value === 'object' && value !== null)
    return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
  throw new Error(`no ${name}`)
}
