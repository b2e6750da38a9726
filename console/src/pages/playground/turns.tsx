import { Button, IconButton } from '../../kit/button.tsx'
import { Field } from '../../kit/field.tsx'
import { words } from '../../words/en.ts'
import type { Turn } from './draft.ts'
import styles from './request-form.module.css'

const text = words.playground

type TurnsProps = { readonly turns: readonly Turn[]; readonly onChange: (turns: readonly Turn[]) => void }

/** The conversation, oldest first. A new turn is of the other side. */
export function Turns({ turns, onChange }: TurnsProps) {
  const replace = (at: number, turn: Turn): void => onChange(turns.with(at, turn))
  const add = (): void => onChange([...turns, { role: turns.at(-1)?.role === 'user' ? 'assistant' : 'user', text: '' }])
  return (
    <div className={styles.turns} role="group" aria-label={text.turns}>
      {turns.map((turn, at) => (
        <div key={at} className={styles.turn}>
          <div className={styles.turnBar}>
            <select
              aria-label={text.roleOf(at + 1)}
              value={turn.role}
              onChange={({ target }) =>
                replace(at, { ...turn, role: target.value === 'assistant' ? 'assistant' : 'user' })
              }
            >
              <option value="user">{text.roles.user}</option>
              <option value="assistant">{text.roles.assistant}</option>
            </select>
            {turns.length > 1 && (
              <IconButton
                isSmall
                icon="close"
                label={text.removeTurn(at + 1)}
                onClick={() => onChange(turns.toSpliced(at, 1))}
              />
            )}
          </div>
          <Field label={text.textOf(at + 1)}>
            {({ className, ...props }) => (
              <textarea
                {...props}
                className={`${className} ${styles.area}`}
                rows={4}
                value={turn.text}
                onChange={({ target }) => replace(at, { ...turn, text: target.value })}
              />
            )}
          </Field>
        </div>
      ))}
      <Button isSmall icon="plus" onClick={add}>
        {text.addTurn}
      </Button>
    </div>
  )
}
