import type { ReactNode } from 'react'
import styles from './badge.module.css'

/** What a colour and a shape mean. `monitor`: decided, but not enforced. */
export type Tone = 'allow' | 'deny' | 'redact' | 'escalate' | 'monitor' | 'error' | 'warning' | 'none'

/** Each tone has a shape of its own, so that no meaning depends on colour alone. */
const shapes: Record<Tone, ReactNode> = {
  allow: (
    <path d="M7 .8a6.200 6.200 0 1 1 0 12.400A6.200 6.200 0 0 1 7 .8zm0 1.300a4.900 4.900 0 1 0 0 9.800 4.900 4.900 0 0 0 0-9.800zM9.700 4.800l.9.900-4 4L4 7.100l.9-.9 1.700 1.700z" />
  ),
  deny: <path d="M4.400.8h5.200l3.600 3.600v5.200l-3.600 3.600H4.400L.8 9.600V4.400zM3.700 6.100v1.800h6.600V6.100z" />,
  redact: <path d="M1 2.200h12v4.200H1zM1 7.900h7.600v4.200H1zM10 9.300h3v1.400h-3z" />,
  escalate: <path d="M7 .4 13.600 7 7 13.600.4 7zm0 2.900L4.100 6.500h2.100v3.600h1.600V6.500h2.100z" />,
  monitor: (
    <path d="M7 2.600c3.300 0 5.400 2.700 6.300 4.400-.9 1.700-3 4.400-6.300 4.400S1.600 8.700.7 7C1.600 5.300 3.700 2.600 7 2.600zm0 1.300C4.800 3.900 3.100 5.500 2.200 7c.9 1.500 2.600 3.100 4.800 3.100S10.900 8.500 11.800 7C10.900 5.500 9.200 3.900 7 3.900zm0 1.200a1.900 1.900 0 1 1 0 3.800 1.900 1.900 0 0 1 0-3.800z" />
  ),
  error: <path d="M1 1h12v12H1zm3.700 2.700-1 1L6 7 3.700 9.300l1 1L7 8l2.300 2.300 1-1L8 7l2.300-2.300-1-1L7 6z" />,
  warning: <path d="M7 .9 13.700 13H.3zM6.300 5v4h1.400V5zm0 5v1.400h1.400V10z" />,
  none: (
    <path d="M7 .8a6.200 6.200 0 1 1 0 12.400A6.200 6.200 0 0 1 7 .8zm0 1.300a4.900 4.900 0 1 0 0 9.800 4.900 4.900 0 0 0 0-9.800zM4.200 6.300h5.600v1.400H4.200z" />
  ),
}

export function Shape({ tone }: { readonly tone: Tone }) {
  return (
    <svg
      className={styles.shape}
      data-tone={tone}
      width={12}
      height={12}
      viewBox="0 0 14 14"
      fill="currentColor"
      fillRule="evenodd"
      aria-hidden="true"
    >
      {shapes[tone]}
    </svg>
  )
}

type BadgeProps = { readonly tone: Tone; readonly children: ReactNode; readonly title?: string | undefined }

export function Badge({ tone, children, title }: BadgeProps) {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      <Shape tone={tone} />
      {children}
    </span>
  )
}
