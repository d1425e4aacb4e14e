/** Where things are kept and what connects to them: storage, streams, accounts, channels. */
import { z } from 'zod';
import {
  anything,
  choice,
  flag,
  number,
  optionalText,
  positive,
  section,
  strictSection,
  text,
  texts,
  whole,
} from './fields';

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const schemaName = z.string().regex(SCHEMA_NAME, 'must be a lower-case name').or(z.literal('')).default('');

export const databaseSchema = section({
  backend: choice(['memory', 'sqlite', 'postgres'], 'sqlite'),
  sqlite_dir: text('.deer-flow/data'),
  postgres_url: optionalText,
  postgres_schema: schemaName,
  echo_sql: flag(false),
  pool_size: whole(5, 1),
  pool_recycle: whole(300),
  /** Seconds; null is no limit. */
  command_timeout: z.number().positive().nullable().default(30),
  checkpoint_channel_mode: choice(['full', 'delta'], 'full'),
  checkpoint_delta: section({ snapshot_frequency: whole(10, 1) }),
  checkpoint_graph_cache: section({ accessor_graph_max: whole(64, 1) }),
  checkpoint_cache: section({
    type: choice(['memory', 'redis'], 'memory'),
    max_entries: whole(128, 1),
    redis_url: optionalText,
    ttl_seconds: whole(86_400),
    key_prefix: text(''),
  }),
});

export const checkpointerSchema = z
  .object({
    type: z.enum(['memory', 'sqlite', 'postgres']),
    connection_string: z.string().nullish(),
    postgres_schema: schemaName,
  })
  .nullish();

export const dedupeStorageSchema = section({ backend: choice(['auto', 'memory', 'postgres'], 'auto') });
export const runEventsSchema = section({
  backend: choice(['memory', 'db', 'jsonl'], 'memory'),
  max_trace_content: whole(10_240),
  track_token_usage: flag(true),
});
export const agentStorageSchema = section({ backend: choice(['file', 'db'], 'file') });

export const streamBridgeSchema = section({
  type: choice(['memory', 'redis'], 'memory'),
  redis_url: optionalText,
  queue_maxsize: whole(256, 1),
  max_connections: z.int().min(1).nullable().default(null),
  /** Seconds; 0 is off. */
  stream_ttl_seconds: number(86_400),
  /** Seconds that a finished run's stream is kept; at least 60. */
  recovered_stream_cleanup_delay_seconds: number(3600),
});

export const runOwnershipSchema = section({
  lease_seconds: number(30, 5),
  grace_seconds: number(10),
  heartbeat_enabled: flag(false),
});

export const authSchema = section({
  local: section({
    allow_registration: flag(true),
    max_login_attempts: whole(5, 2),
    lockout_seconds: positive(300),
    throttle_storage: choice(['auto', 'memory', 'db'], 'auto'),
  }),
  oidc: section({
    enabled: flag(false),
    frontend_base_url: optionalText,
    providers: z
      .record(
        z.string(),
        z.object({
          display_name: z.string().nullish(),
          issuer: z.string().min(1),
          client_id: z.string().min(1),
          client_secret: z.string().nullish(),
          redirect_uri: z.string().nullish(),
          scopes: texts(['openid', 'email', 'profile']),
          token_endpoint_auth_method: choice(
            ['client_secret_post', 'client_secret_basic', 'none'],
            'client_secret_post',
          ),
          auto_create_users: flag(true),
          require_verified_email: flag(true),
          allowed_email_domains: texts(),
          admin_emails: texts(),
          pkce_enabled: flag(true),
          nonce_enabled: flag(true),
        }),
      )
      .default({}),
  }),
});

/** Bots that hold a connection of their own to their platform. */
export const CONNECTED_CHANNELS = [
  'feishu',
  'slack',
  'telegram',
  'wechat',
  'wecom',
  'dingtalk',
  'discord',
  'buzz',
] as const;

const provider = z.looseObject({ enabled: flag(false) }).prefault({});
const connection = section({ enabled: flag(false), bot_username: optionalText });

export const channelConnectionsSchema = section({
  enabled: flag(false),
  require_bound_identity: flag(true),
  notification_locale: choice(['en-US', 'zh-CN'], 'en-US'),
  slack: connection,
  telegram: connection,
  discord: connection,
  feishu: connection,
  dingtalk: connection,
  wechat: connection,
  wecom: connection,
  buzz: connection,
});

export const channelsSchema = section({
  leader_lease: strictSection({
    enabled: z.union([z.literal('auto'), z.boolean()]).default('auto'),
    lease_seconds: number(30, 3),
    grace_seconds: number(10),
  }),
  langgraph_url: text('http://localhost:8001/api'),
  gateway_url: text('http://localhost:8001'),
  inbound_queue_maxsize: whole(1000, 1),
  max_concurrency: whole(5, 1),
  shutdown_grace_period_seconds: number(3),
  session: anything.default({}),
  feishu: provider,
  slack: provider,
  telegram: provider,
  wechat: provider,
  wecom: provider,
  dingtalk: provider,
  discord: provider,
  buzz: provider,
  github: provider,
});

export const deploymentSchema = section({ multi_instance: flag(false) });
export const loggingSchema = section({
  enhance: section({ enabled: flag(false), format: choice(['text', 'json'], 'text') }),
});
