"""Public names of PyTorch that tensorplay does not have, each with the reason.

namespace -> [(reason, patterns of names)]
"""

IMPORTS = "imported or defined by the module for its own use, not part of its documented interface"
_DEVICES = "about devices other than the CPU, of which there are none here"
_QUANTIZED = "quantized tensors are a separate feature outside of differentiable dense arrays"
_SPARSE = "sparse layouts; results that are sparse are scipy.sparse arrays here"
_LAYOUT = "memory formats and nested layouts of PyTorch's own storage; the memory here is NumPy's"
_JIT = "TorchScript, graph capture and symbolic shapes: there is no compiler here"
_STORAGE = "untyped storage as an object of its own; the memory is a NumPy array, see numpy()"
_VENDOR = "entry points of one vendor's library; the public operator is there"
_INTERNAL = "an internal of PyTorch that its documentation does not list"
_ENTRY = "what a public function or module calls, with enums in place of names; use that one"
_REMOVED = "removed or deprecated in PyTorch; its replacement is there"
_PROCESS = "about processes, multithreading of PyTorch's runtime or its build"
_DISTRIBUTED = "distributed training is outside of this library"
_BITS = "element types that NumPy does not compute with"
_AUTOCAST = "automatic mixed precision serves accelerators"
_COMPLEX32 = "NumPy has no complex type of two halves"

EXCEPTIONS = {
    "": [
        (_JIT, "*Type AliasDb Argument ArgumentSpec Block Code CallStack Capsule CompilationUnit "
               "CompleteArgumentSpec ConcreteModuleTypeBuilder DeepCopyMemoTable ErrorReport "
               "ExecutionPlan FileCheck FunctionSchema Gradient Graph GraphExecutorState "
               "JITException IODescriptor LiteScriptModule LockingLogger LoggerBase Node "
               "NoopLogger OperatorInfo Script* StaticModule SymBool SymFloat SymInt "
               "TracingState Type Use Value compile cond while_loop fork wait "
               "import_ir_module* merge_type_from_type_comment parse_* sym_* typename "
               "unify_type_list BufferDict ModuleDict ParameterDict AggregationType"),
        (_STORAGE, "*Storage StorageBase PyTorchFile* DeserializationStorageContext "
                   "SerializationStorageContext is_storage from_file"),
        (_REMOVED, "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor "
                   "HalfTensor IntTensor LongTensor ShortTensor set_default_tensor_type eig lstsq "
                   "matrix_rank solve symeig has_lapack has_mkl has_openmp has_spectral range "
                   "to_dlpack"),
        (_ENTRY, "embedding_bag hinge_embedding_loss instance_norm kl_div margin_ranking_loss "
                 "poisson_nll_loss"),
        (_DEVICES, "AcceleratorError Event Stream StreamObjType DeviceObjType GradScaler "
                   "OutOfMemoryError get_device_module get_device is_vulkan_available "
                   "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 "
                   "get_default_device set_default_device"),
        (_VENDOR, "cudnn_* miopen_* mkldnn_* fbgemm_* batch_norm_* native_norm conv_tbc "
                  "choose_qparams_optimized"),
        (_QUANTIZED, "QInt* QUInt* dequantize empty_quantized fake_quantize_* fused_moving_* "
                     "int_repr per_channel_* per_tensor_* q_* qint* qscheme quantize* quint*"),
        (_SPARSE, "ccol_indices_copy col_indices_copy crow_indices_copy dsmm hsmm hspmm "
                  "indices_copy resize_as_sparse_ row_indices_copy saddmm smm sparse_* spmm "
                  "sspaddmm values_copy"),
        (_LAYOUT, "jagged legacy_contiguous_format"),
        (_BITS, "bit bits* float4_* float8_* int1 int2 int3 int4 int5 int6 int7 uint1 uint2 "
                "uint3 uint4 uint5 uint6 uint7"),
        (_COMPLEX32, "chalf complex32"),
        (_AUTOCAST, "*autocast*"),
        (_PROCESS, "ThroughputBenchmark thread_safe_generator USE_GLOBAL_DEPS USE_RTLD_* Future "
                   "FatalError "
                   "compiled_with_cxx11_abi get_file_path get_num_interop_threads "
                   "init_num_threads prepare_multiprocessing_environment set_flush_denormal "
                   "set_num_interop_threads set_warn_always is_warn_always_enabled "
                   "BenchmarkConfig BenchmarkExecutionStats *deterministic* "
                   "*float32_matmul_precision"),
        (_DISTRIBUTED, "is_distributed"),
        (IMPORTS, "AVG SUM TYPE_CHECKING PRIVATE_OPS classproperty Disable* Dispatch* "
                   "ExcludeDispatchKeyGuard Tag"),
        (_INTERNAL, "affine_grid_generator convolution embedding_renorm_ "
                    "feature_dropout* frobenius_norm grid_sampler hash_tensor is_same_size "
                    "is_neg resolve_neg native_channel_shuffle native_dropout norm_except_dim "
                    "nuclear_norm slice_inverse "
                    "view_as_*_copy is_anomaly_* set_anomaly_* "
                    "empty_permuted"),
    ],
    "Tensor": [
        (_DEVICES, "cuda ipu is_ipu is_maia is_mps is_mtia is_vulkan is_xla is_xpu mtia "
                   "xpu pin_memory is_pinned record_stream get_device"),
        (_QUANTIZED, "dequantize int_repr is_quantized q_* qscheme"),
        (_SPARSE, "ccol_indices coalesce col_indices crow_indices dense_dim indices is_coalesced "
                  "is_sparse* resize_as_sparse_ row_indices smm sparse_* sspaddmm to_dense "
                  "to_sparse* values"),
        (_LAYOUT, "dim_order is_mkldnn is_nested to_mkldnn to_padded_tensor"),
        (_STORAGE, "storage storage_type untyped_storage set_ is_set_to is_shared share_memory_ "
                   "const_data_ptr"),
        (_REMOVED, "eig lstsq solve symeig new reinforce volatile resize resize_as name"),
        (_COMPLEX32, "chalf"),
        (_DISTRIBUTED, "is_distributed"),
        (_ENTRY, "index"),
        (_INTERNAL, "as_subclass hash_tensor map2_ map_ "
                    "module_load slice_inverse grad_dtype"),
    ],
    "autograd": [
        (IMPORTS, "DeviceType Mapping Sequence cast handle_torch_function has_torch_function "
                   "is_tensor_like overload enforce_grad_layout_policy"),
        (_PROCESS, "Profiler* kineto_available *multithreading_enabled "
                   "is_view_replay_enabled"),
        (_INTERNAL, "NestedIOFunction SavedTensor"),
        (_REMOVED, "Variable variable"),
    ],
    "autograd.functional": [],
    "autograd.forward_ad": [(IMPORTS, "Any NamedTuple")],
    "autograd.graph": [
        (IMPORTS, "Any Callable Generator Iterable Iterator Literal MutableMapping NamedTuple "
                   "Optional RemovableHandle Sequence TYPE_CHECKING TorchDispatchMode TypeAlias "
                   "Union Variable Weak* cast defaultdict deque log"),
        (_DEVICES, "set_override_stale_capture_stream region_activation_memory_budget "
                   "set_warn_on_accumulate_grad_stream_mismatch"),
    ],
    "utils.checkpoint": [
        (IMPORTS, "AbstractSet Annotated Any AnyStr Async* Awaitable BinaryIO ByteString "
                   "Callable ChainMap ClassVar Collection Concatenate Container ContextManager "
                   "Coroutine Counter DefaultDict Deque Dict Final ForwardRef FrozenSet "
                   "Generator Generic Hashable IO ItemsView Iterable Iterator KeysView List "
                   "Literal* LoggingTensorMode Mapping* Match Mutable* NamedTuple Never NewType "
                   "NoReturn NotRequired Optional OrderedDict ParamSpec* Pattern Protocol "
                   "ReferenceType Required Reversible SavedTensor Self Sequence Set Sized "
                   "Supports* TYPE_CHECKING Text* TorchDispatchMode Tuple Type TypeAlias "
                   "TypeGuard TypeVar* TypedDict Union Unpack annotations assert_* capture_logs "
                   "cast clear_overloads dataclass_transform defaultdict final get_* "
                   "is_typeddict no_type_check* overload reveal_type runtime_checkable tree_map "
                   "ValuesView"),
        (_DEVICES, "DefaultDeviceType get_device_states set_device_states"),
        (_INTERNAL, "GraphExecGroup SAC_IGNORED_OPS"),
    ],
    "func": [
        (_JIT, "functionalize debug_unwrap rearrange"),
    ],
    "linalg": [(IMPORTS, "common_notes")],
    "fft": [(IMPORTS, "Tensor common_args factory_common_args")],
    "special": [(IMPORTS, "Tensor common_args multi_dim_common")],
    "nn.functional": [
        (IMPORTS, "BroadcastingList* Callable DType GRID_* Optional TYPE_CHECKING Tensor "
                   "assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function* "
                   "reproducibility_notes sparse_support_notes tf32_notes"),
        (_VENDOR, "ScalingType SwizzleType grouped_mm scaled_grouped_mm scaled_mm conv_tbc "
                  ""),
    ],
    "nn": [
        (IMPORTS, "factory_kwargs Container"),
        (_DISTRIBUTED, "DataParallel SyncBatchNorm"),
        (_REMOVED, "NLLLoss2d CrossMapLRN2d"),
    ],
    "nn.init": [
        (IMPORTS, "Callable Literal ParamSpec Tensor TypeVar"),
        (_REMOVED, "constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse "
                   "uniform xavier_normal xavier_uniform"),
    ],
    "nn.utils": [
        (_REMOVED, "clip_grad_norm"),
        (_LAYOUT, "convert_conv*"),
        (_JIT, "fuse_*"),
        (_DEVICES, "skip_init"),
    ],
    "optim": [
        (_SPARSE, "SparseAdam"),
        (_INTERNAL, "swap_in_optimizer_params_and_state"),
    ],
    "optim.lr_scheduler": [
        (IMPORTS, "Any Counter EPOCH_DEPRECATION_WARNING Literal Optimizer Self SupportsFloat "
                   "TYPE_CHECKING Tensor TypedDict annotations bisect_right cast inf override "
                   "partial ref wraps"),
    ],
}  # fmt: skip
