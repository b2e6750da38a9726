import { useState } from 'react'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import type { GatewayConfig } from './queries.ts'
import styles from './page.module.css'

const text = words.gateway

type EditorProps = { readonly config: GatewayConfig; readonly onChange: (config: GatewayConfig) => void }

/** The whole configuration as JSON. A text that is not JSON stays in the editor and changes nothing. */
export function JsonEditor({ config, onChange }: EditorProps) {
  const [written, setWritten] = useState(() => JSON.stringify(config, null, 2))
  const { problem } = parsed(written)
  return (
    <Field label={text.json} error={problem}>
      {({ className = '', ...input }) => (
        <textarea
          {...input}
          className={`${className} ${styles.json}`}
          spellCheck={false}
          value={written}
          onChange={({ target }) => {
            setWritten(target.value)
            const { value } = parsed(target.value)
            if (value) onChange(value)
          }}
        />
      )}
    </Field>
  )
}

/** The server checks the fields; here it only has to be an object with the parts that the page reads. */
function parsed(json: string): { readonly value?: GatewayConfig; readonly problem?: string } {
  try {
    const value: unknown = JSON.parse(json)
    return isConfig(value) ? { value } : { problem: text.jsonNoObject }
  } catch (error) {
    return { problem: text.jsonInvalid(error instanceof Error ? error.message : '') }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isConfig(value: unknown): value is GatewayConfig {
  if (!isObject(value)) return false
  const { rules, org_controls: controls, rollout, refusal_replacement: replacement } = value
  return (
    isObject(rules) &&
    ['allowlist', 'denylist', 'flagged_categories'].every((name) => Array.isArray(rules[name])) &&
    isObject(rules['prompt_injection']) &&
    isObject(controls) &&
    isObject(controls['user_quota']) &&
    isObject(controls['project_quota']) &&
    isObject(rollout) &&
    ['shadow', 'canary'].every((name) => isObject(rollout[name]) && Array.isArray(rollout[name]['targets'])) &&
    isObject(replacement)
  )
}
