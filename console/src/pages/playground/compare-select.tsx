import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import { readVariation } from './comparison.ts'
import type { useRuleChoices } from './queries.ts'
import type { PlaygroundSearch } from './search.ts'
import styles from './request-form.module.css'

const text = words.playground

type CompareProps = {
  readonly search: PlaygroundSearch
  readonly models: readonly string[] | undefined
  readonly rules: ReturnType<typeof useRuleChoices>
  readonly onSet: (changed: PlaygroundSearch) => void
}

/** What the second side is: another model, or other rules. With other rules, those of the first side can be chosen as well. */
export function CompareSelect({ search, models = [], rules = [], onSet }: CompareProps) {
  const variation = readVariation(search.compare)
  const ofRules = ruleOptions(rules)
  const groups = [[text.compareModels, models.map((name) => [`model:${name}`, name] as const)] as const, ...ofRules]
  const isRules = variation !== undefined && variation.kind !== 'model'
  return (
    <div className={styles.fields}>
      {isRules && (
        <Choice
          label={text.compareFirst}
          none={text.inForce}
          value={search.against ?? ''}
          groups={ofRules}
          onChange={(against) => onSet({ against })}
        />
      )}
      <Choice
        label={text.compare}
        none={text.compareNothing}
        value={search.compare ?? ''}
        groups={groups}
        onChange={(compare) =>
          onSet({
            compare,
            request_b: undefined,
            ...(compare?.startsWith('model:') !== false && { against: undefined }),
          })
        }
      />
    </div>
  )
}

type Group = readonly [label: string, options: readonly (readonly [value: string, name: string])[]]

function ruleOptions(rules: NonNullable<CompareProps['rules']>): readonly Group[] {
  const optionsOf = (kind: 'draft' | 'without', of: typeof rules) =>
    of.map(({ id, name }) => [`${kind}:${id}`, text.rulesOf(kind, name)] as const)
  const drafts = rules.filter(({ hasDraft }) => hasDraft)
  const inForce = rules.filter(({ isInForce }) => isInForce)
  return [
    [text.compareDrafts, optionsOf('draft', drafts)],
    [text.compareWithout, optionsOf('without', inForce)],
  ]
}

type ChoiceProps = {
  readonly label: string
  readonly none: string
  readonly value: string
  readonly groups: readonly Group[]
  readonly onChange: (value: string | undefined) => void
}

/** A value of the address that is not offered stays selected. */
function Choice({ label, none, value, groups, onChange }: ChoiceProps) {
  const isListed = value === '' || groups.some(([, options]) => options.some(([each]) => each === value))
  return (
    <Field label={label}>
      {(props) => (
        <select
          {...props}
          value={value}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        >
          <option value="">{none}</option>
          {!isListed && <option value={value}>{readVariation(value)?.id ?? value}</option>}
          {groups.map(([name, options]) =>
            options.length === 0 ? null : (
              <optgroup key={name} label={name}>
                {options.map(([each, optionName]) => (
                  <option key={each} value={each}>
                    {optionName}
                  </option>
                ))}
              </optgroup>
            ),
          )}
        </select>
      )}
    </Field>
  )
}
