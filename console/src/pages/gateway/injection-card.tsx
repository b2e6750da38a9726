import { errorOfField } from '../../api/use-change.ts'
import { Card } from '../../kit/card.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import type { FormProps } from './form-parts.tsx'
import styles from './config-form.module.css'

const text = words.gateway.injection
const places = ['tool_results', 'documents', 'user_text'] as const
const modes = ['off', 'monitor', 'block'] as const

/** Fields of the card that show the error of the server. */
export const injectionFields: readonly string[] = places.map((place) => `rules.prompt_injection.${place}`)

/** What happens to prompt injections, by their place in a request. */
export function InjectionCard({ config, onChange, error }: FormProps) {
  const { rules } = config
  const { prompt_injection: chosen } = rules
  const set = (changed: Partial<typeof chosen>): void =>
    onChange({ ...config, rules: { ...rules, prompt_injection: { ...chosen, ...changed } } })
  return (
    <Card title={text.title} note={text.hint}>
      <div className={styles.fields}>
        {places.map((place) => (
          <Field key={place} label={text.places[place]} error={errorOfField(error, `rules.prompt_injection.${place}`)}>
            {(input) => (
              <select
                {...input}
                value={chosen[place]}
                onChange={({ target }) =>
                  set({ [place]: modes.find((mode) => mode === target.value) ?? chosen[place] })
                }
              >
                {modes.map((mode) => (
                  <option key={mode} value={mode}>
                    {text.modes[mode]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
    </Card>
  )
}
