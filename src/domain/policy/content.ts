import { textDirections } from '../scan/classify/classifier.ts'

export const policyDirections = [...textDirections, 'both'] as const
export const policyModes = ['monitoring', 'enforcing'] as const
export const policyScopes = ['organization', 'projects', 'unattached'] as const
export const judgeWindows = ['block', 'paragraph'] as const

export type PolicyDirection = (typeof policyDirections)[number]
export type PolicyMode = (typeof policyModes)[number]
export type PolicyScope = (typeof policyScopes)[number]
export type JudgeWindow = (typeof judgeWindows)[number]

/** The part of a policy that is drafted and published. Each member has an entry in `policyFields`. */
export type PolicyContent = {
  readonly rule: string
  readonly direction: PolicyDirection
  readonly mode: PolicyMode
  readonly scope: PolicyScope
  /** A set: the order has no meaning, and there are no duplicates. */
  readonly projectIds: readonly string[]
  /** The score from which the rule matches; null means the default of the service. */
  readonly matchThresholdBasisPoints: number | null
  /** How much of a text a judge evaluates at once. Rules that need no judge ignore it. */
  readonly judgeWindow: JudgeWindow
  /** An expression: a judge is asked only about texts for which it is true. Empty: about all. Rules that need no judge ignore it. */
  readonly judgeWhen: string
  /** Whether a denial spike within a day of the publication pauses the policy. Otherwise it is only reported. */
  readonly pauseOnSpike: boolean
}

/** The score from which a policy matches. */
export const thresholdOf = ({ matchThresholdBasisPoints }: Pick<PolicyContent, 'matchThresholdBasisPoints'>): number =>
  matchThresholdBasisPoints ?? 5_000

/** `name` is the name in the API, in `policies.yaml` and in the audit record, and the column in the database. */
type TextField = { readonly kind: 'text'; readonly name: string; readonly initial: string }
/** An expression without a prefix; empty for none. */
type ExpressionField = { readonly kind: 'expression'; readonly name: string; readonly initial: '' }
type ChoiceField<Choice> = {
  readonly kind: 'choice'
  readonly name: string
  readonly choices: readonly Choice[]
  readonly initial: Choice
}
type SetField = { readonly kind: 'set'; readonly name: string; readonly initial: readonly string[] }
/** Null is a value of its own: a request can clear the field with it. */
type OptionalIntegerField = {
  readonly kind: 'optional integer'
  readonly name: string
  readonly minimum: number
  readonly maximum: number
  readonly initial: number | null
}

type FlagField = { readonly kind: 'flag'; readonly name: string; readonly initial: boolean }

type FieldOf<Value> = [Value] extends [readonly string[]]
  ? SetField
  : [Value] extends [number | null]
    ? OptionalIntegerField
    : [Value] extends [boolean]
      ? FlagField
      : string extends Value
        ? TextField | ExpressionField
        : [Value] extends [string]
          ? ChoiceField<Value>
          : never

/**
 * The one list of a policy's fields. Equality, copying, defaults, database columns, API bodies, the audit record, the
 * diff and the options of the command line are derived from it. A field without an entry does not compile.
 */
export const policyFields = {
  rule: { kind: 'text', name: 'rule', initial: '' },
  direction: { kind: 'choice', name: 'direction', choices: policyDirections, initial: 'both' },
  mode: { kind: 'choice', name: 'mode', choices: policyModes, initial: 'monitoring' },
  scope: { kind: 'choice', name: 'scope', choices: policyScopes, initial: 'organization' },
  projectIds: { kind: 'set', name: 'project_ids', initial: [] },
  matchThresholdBasisPoints: {
    kind: 'optional integer',
    name: 'match_threshold_basis_points',
    minimum: 1,
    maximum: 9999,
    initial: null,
  },
  judgeWindow: { kind: 'choice', name: 'judge_window', choices: judgeWindows, initial: 'block' },
  judgeWhen: { kind: 'expression', name: 'judge_when', initial: '' },
  pauseOnSpike: { kind: 'flag', name: 'pause_on_spike', initial: false },
} as const satisfies { readonly [Key in keyof PolicyContent]: FieldOf<PolicyContent[Key]> }

export type PolicyField = (typeof policyFields)[keyof PolicyContent]

type Listed<Value> = Value extends readonly string[] ? string[] : Value

/** The content under the names of the API. */
export type PolicyContentBody = {
  [Key in keyof PolicyContent as (typeof policyFields)[Key]['name']]: Listed<PolicyContent[Key]>
}

/** The fields of a request. Null leaves a field unchanged, except for an optional one, which it clears. */
export type PolicyContentPatch = { readonly [Name in keyof PolicyContentBody]?: PolicyContentBody[Name] | null }

const entries = Object.entries(policyFields) as [keyof PolicyContent, PolicyField][]

const contentFrom = (valueOf: (key: keyof PolicyContent, field: PolicyField) => unknown): PolicyContent =>
  Object.fromEntries(entries.map(([key, field]) => [key, valueOf(key, field)])) as PolicyContent

/** The defaults. The rule has none: every policy is created with a rule. */
export const initialContent: PolicyContent = contentFrom((_key, { initial }) => initial)

/** Copies the content out of a draft or a version. */
export const contentOf = (carrier: PolicyContent): PolicyContent => contentFrom((key) => carrier[key])

/** `base` with some fields replaced. Drops duplicates from sets. */
export const contentWith = (base: PolicyContent, changes: Partial<PolicyContent>): PolicyContent =>
  contentFrom((key) => {
    const value = changes[key] === undefined ? base[key] : changes[key]
    return isSet(value) ? [...new Set(value)] : value
  })

export const isSameContent = (left: PolicyContent, right: PolicyContent): boolean =>
  entries.every(([key]) => isSameValue(left[key], right[key]))

type FieldValue = PolicyContent[keyof PolicyContent]

function isSameValue(left: FieldValue, right: FieldValue): boolean {
  if (!isSet(left) || !isSet(right)) return left === right
  return new Set(left).symmetricDifference(new Set(right)).size === 0
}

const isSet = (value: FieldValue): value is readonly string[] => Array.isArray(value)

export const contentBody = (content: PolicyContent): PolicyContentBody =>
  Object.fromEntries(
    entries.map(([key, { name }]) => {
      const value = content[key]
      return [name, isSet(value) ? [...value] : value]
    }),
  ) as PolicyContentBody

/** Reads the fields of a request that passed the schema. */
export const contentChanges = (body: PolicyContentPatch): Partial<PolicyContent> =>
  Object.fromEntries(
    entries.flatMap(([key, { kind, name }]) => {
      const value = body[name]
      const isLeftOut = value === undefined || (value === null && kind !== 'optional integer')
      return isLeftOut ? [] : [[key, value]]
    }),
  )

/** The content from the columns of a row. `valueOf` decodes a column by the kind of its field. */
export const contentFromColumns = (valueOf: (field: PolicyField) => unknown): PolicyContent =>
  contentFrom((_key, field) => valueOf(field))
