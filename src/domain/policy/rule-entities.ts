import type { Category } from '../scan/classify/categories.ts'
import { injectionPlaces, type InjectionPlace } from '../scan/injection/places.ts'
import { normalise } from '../scan/normalise/normalise.ts'
import { personalDataKinds, type PersonalDataKind } from '../scan/detect/personal-data/kinds.ts'

/** The phrases, categories, kinds of personal data and places of prompt injections that a rule in plain language names. */
export type RuleEntities = {
  readonly phrases: readonly string[]
  readonly categories: readonly Category[]
  readonly personalData: readonly PersonalDataKind[]
  readonly injections: readonly InjectionPlace[]
}

/** A phrase: at least one character between straight or typographic quotes. */
const quotedPhrases = /"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|‘[^’]+’|(?<!\p{L})'[^']+'(?!\p{L})/gu

/** Words for the moderation categories. Order matters: text matched by one entry is removed before the next entry. */
const categoryWords: readonly (readonly [Category, RegExp])[] = [
  ['sexual/minors', /\bsexual(?:\/|[\w\s,-]{0,60}\b)minors\b|\bminors\b|\bchild (?:sexual )?abuse\b/gi],
  ['self-harm', /\bself[- ]?harm\b|\bsuicid(?:e|al)\b/gi],
  ['harassment', /\bharass(?:ment|ing)?\b|\bbull(?:y|ying)\b/gi],
  ['hate', /\bhate(?:[- ]speech)?\b|\bhateful\b/gi],
  ['illicit', /\billicit\b|\billegal\b/gi],
  ['sexual', /\bsexual\b/gi],
]

/** Words for the kinds of personal data. */
const personalDataWords: readonly (readonly [PersonalDataKind, RegExp])[] = [
  ['email', /\be-?mails?\b/i],
  ['phone', /\b(?:tele)?phone numbers?\b/i],
  ['card', /\bcard numbers?\b/i],
  ['iban', /\bibans?\b|\bbank account numbers?\b/i],
  ['national_id', /\bsocial security numbers?\b|\bssns?\b|\bpassport numbers?\b|\bnational ids?\b|\bid numbers?\b/i],
  ['ip_address', /\bip address(?:es)?\b/i],
  ['mac_address', /\bmac address(?:es)?\b/i],
  ['secret', /\bapi keys?\b|\bpasswords?\b|\baccess tokens?\b/i],
  ['date_of_birth', /\bdates? of birth\b|\bbirth ?dates?\b/i],
]

const anyPersonalData = /\bpersonal data\b|\bpii\b/i

/** A word between quotes is a phrase only: `"hate"` does not name the category. */
export function ruleEntities(rule: string): RuleEntities {
  const phrases = [...rule.matchAll(quotedPhrases)].map(([quoted]) => quoted.slice(1, -1).trim())
  let rest = rule.replace(quotedPhrases, ' ')
  const categories: Category[] = []
  for (const [category, words] of categoryWords) {
    const remaining = rest.replace(words, ' ')
    if (remaining !== rest) categories.push(category)
    rest = remaining
  }
  const kinds = personalDataWords.filter(([, words]) => words.test(rest)).map(([kind]) => kind)
  return {
    phrases: phrases.filter((phrase) => normalise(phrase).trim() !== ''),
    categories,
    personalData: anyPersonalData.test(rest) ? personalDataKinds : kinds,
    injections: injectionsIn(rest),
  }
}

export function namesAnything(rule: string): boolean {
  const { phrases, categories, personalData, injections } = ruleEntities(rule)
  return phrases.length + categories.length + personalData.length + injections.length > 0
}

const anyInjection = /\bprompt[- ]injections?\b|\bjail[- ]?breaks?\b/i

/** Words for the places. A rule that names none means all of them. */
const placeWords: readonly (readonly [InjectionPlace, RegExp])[] = [
  ['tool_results', /\btools?\b/i],
  ['documents', /\b(?:documents?|files?|attachments?)\b/i],
  ['user_text', /\busers?\b/i],
]

function injectionsIn(rule: string): readonly InjectionPlace[] {
  if (!anyInjection.test(rule)) return []
  const named = placeWords.filter(([, words]) => words.test(rule)).map(([place]) => place)
  return named.length === 0 ? injectionPlaces : named
}
