import { useNavigate } from '@tanstack/react-router'
import { Shape } from '../kit/badge.tsx'
import { buttonClass } from '../kit/button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Menu, MenuItem, MenuLabel } from '../kit/menu.tsx'
import { words } from '../words/en.ts'
import { attentionLink, severityTones, urgentCount } from '../session/attention.ts'
import { useOverview } from '../session/overview.ts'
import { useMay } from '../session/session.tsx'
import styles from './attention-bell.module.css'

const text = words.shell.attention

/** How many things need a person, on every page. Each leads to its object. */
export function AttentionBell() {
  const items = useOverview().data?.attention ?? []
  const mayRead = useMay('audit:read')
  const mayReadAlerts = useMay('alerts:read')
  const navigate = useNavigate()
  if (!mayRead) return null
  const urgent = urgentCount(items)
  return (
    <Menu
      label={text.label(urgent)}
      triggerClass={`${buttonClass({ look: 'ghost' })} ${styles.bell}`}
      trigger={
        <>
          <Icon name="bell" />
          {urgent > 0 && <span className={styles.count}>{urgent}</span>}
        </>
      }
    >
      {items.length === 0 && <MenuLabel>{words.overview.calm}</MenuLabel>}
      {items.map((item, at) => (
        <MenuItem key={at} onClick={() => void navigate(attentionLink(item))}>
          <Shape tone={severityTones[item.severity]} />
          <span className={styles.text}>{item.text}</span>
        </MenuItem>
      ))}
      {mayReadAlerts && (
        <MenuItem onClick={() => void navigate({ to: '/alerts' })}>
          <Icon name="bell" />
          <span className={styles.text}>{text.alerts}</span>
        </MenuItem>
      )}
    </Menu>
  )
}
