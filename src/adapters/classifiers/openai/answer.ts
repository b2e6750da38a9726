import { categories, perCategory, type Category, type PerCategory } from '../../../domain/moderation/categories.ts'
import { flagThreshold, type Classification } from '../../../domain/moderation/classifier.ts'
import type { ModerationCategory } from '../../../wire/openai-moderations.ts'

/** Their categories that make up one of ours. Violence is none of ours. */
const theirNames: PerCategory<readonly ModerationCategory[]> = {
  'self-harm': ['self-harm', 'self-harm/intent', 'self-harm/instructions'],
  'sexual/minors': ['sexual/minors'],
  harassment: ['harassment', 'harassment/threatening'],
  hate: ['hate', 'hate/threatening'],
  illicit: ['illicit', 'illicit/violent'],
  sexual: ['sexual'],
}

/** Reads an answer for one input. Throws where it does not say something about each of our categories. */
export function readClassification(answer: unknown): Classification {
  const result = firstOf(fieldOf(answer, 'results'))
  const flags = fieldOf(result, 'categories')
  const given = fieldOf(result, 'category_scores')
  const flagged = categories.filter((category) => isFlagged(category, flags))
  const scores = perCategory((category) => {
    const score = Math.max(...theirNames[category].map((name) => scoreOf(given, name)))
    if (score < 0) throw new Error(`no score for ${category}`)
    // Their scale is not ours: what they flagged has at least half, what they did not has less.
    return flagged.includes(category) ? Math.max(score, flagThreshold) : Math.min(score, flagThreshold - 0.01)
  })
  return { scores, flagged }
}

const isFlagged = (category: Category, flags: unknown): boolean =>
  theirNames[category].some((name) => fieldOf(flags, name) === true)

/** Below zero where there is none: older models do not know the finer categories. */
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
