/* Members that are trees, as node arrays. */
#include "ensemble.h"

struct sr_nodes {
  sr_nodes_view view;
  sr__nodes own;
  sr_allocator allocator;
};

sr_status sr_ensemble_nodes(sr_context *ctx, const sr_ensemble *ensemble, int32_t member,
                            sr_nodes **nodes) {
  sr_status status = SR_OK;
  sr_nodes *made = NULL;
  *nodes = NULL;
  if (member < 0 || member >= ensemble->view.members)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "member %d was asked for; the ensemble has 0 to %d",
                    member, ensemble->view.members - 1));
  if (!ensemble->learner->nodes)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED, "members of the learner %s are no trees",
                    ensemble->learner->about.name));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(ensemble->learner->nodes(ctx, ensemble->encoder, ensemble->member[member], &made->own));
  const sr__nodes *n = &made->own;
  made->view = (sr_nodes_view){.nodes = n->nodes,
                               .classes = n->classes,
                               .feature = n->feature,
                               .threshold = n->threshold,
                               .left = n->left,
                               .right = n->right,
                               .missing_left = n->missing_left,
                               .category_offset = n->category_offset,
                               .category = n->category,
                               .share = n->share};
  *nodes = made;
  made = NULL;
cleanup:
  sr_nodes_free(&made);
  return status;
}

void sr_nodes_free(sr_nodes **nodes) {
  if (!nodes || !*nodes) return;
  sr_nodes *n = *nodes;
  sr_allocator allocator = n->allocator;
  void *blocks[] = {n->own.feature,  n->own.threshold,    n->own.left,
                    n->own.right,    n->own.missing_left, n->own.category_offset,
                    n->own.category, n->own.share,        n};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *nodes = NULL;
}

const sr_nodes_view *sr_nodes_get(const sr_nodes *nodes) { return &nodes->view; }
